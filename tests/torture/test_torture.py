"""The short form of ``make torture``: its quick parts. docs/reliability.md has the figures of the long form."""

from __future__ import annotations

import dataclasses

import pytest

from tests.support.servers import Kind
from tests.torture import drops, kills, page
from tests.torture.cluster import DATABASE, Cluster
from tests.torture.hour import Hour
from tests.torture.parts import Options, Outcome, machine_on, run, run_machine

pytestmark = pytest.mark.filterwarnings("ignore::agent_memory.errors.DegradedWarning")

SHORT = Options(clock_steps=4, promotions=1, fault_seconds=0.5)


@pytest.mark.nightly
@pytest.mark.feature("A3", "E14", "F5", "F9", "F10")
def test_random_operations_of_several_clients_do_what_the_model_of_the_contract_does(cluster: Cluster) -> None:
    with machine_on(cluster) as machine:
        run_machine(machine, runs=4, steps=60, chosen_seed=1)
        assert machine.steps > 60


@pytest.mark.nightly
@pytest.mark.feature("E14")
def test_nothing_acknowledged_is_lost_when_the_server_is_killed(cluster: Cluster) -> None:
    done = kills.run(cluster, rounds=3)  # each of the three victims once
    assert (done.problems, sum(done.kills.values())) == ([], 3)
    assert done.load.acknowledged > 0


@pytest.mark.nightly
@pytest.mark.feature("E14")
def test_mixed_load_of_applications_tenants_and_both_runners_leaves_nothing_lost_or_miscounted(
    cluster: Cluster,
) -> None:
    cluster.create(DATABASE)
    load = Hour(cluster, calls=300, server_kills=0, worker_kills=1)
    assert load.run() == []
    assert load.answers >= 300
    assert load.kills["worker"] == 1


@pytest.mark.nightly
def test_dropped_connections_are_told_and_repeated_calls_store_once(cluster: Cluster) -> None:
    count, told, problems = drops.run(cluster, every=11)
    assert problems == []
    assert count >= told > 0


@pytest.mark.nightly
@pytest.mark.parametrize("part", ["clocks", "promotion", "disks"])
def test_nothing_acknowledged_is_lost(part: str, server_kind: Kind) -> None:
    outcome = of_part(part, server_kind)
    assert outcome.problems == []
    assert outcome.acknowledged


def of_part(part: str, server_kind: Kind) -> Outcome:
    outcome = run(part, dataclasses.replace(SHORT, server=server_kind))
    if outcome.skipped:
        pytest.skip(outcome.skipped)
    return outcome


def test_the_page_shows_the_figures_of_the_last_run() -> None:
    text = page.PAGE.read_text()
    assert page.with_figures(text, page.read()) == text
    assert page.BEGIN in text
