"""The parts of the suite: what each tries, how often, and what is wrong afterwards."""

from __future__ import annotations

import dataclasses
import itertools
import math
import multiprocessing
import os
import time
import traceback
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from typing import Any

from hypothesis import HealthCheck, Phase, seed, settings
from hypothesis.stateful import run_state_machine_as_test

from tests.support.servers import Kind
from tests.torture import clocks, disks, drops, flat, hour, kills, power, promotion
from tests.torture.cluster import Cluster, running_cluster
from tests.torture.hour import Hour, span
from tests.torture.model.machine import Contract
from tests.torture.model.world import World

STEPS_OF_A_RUN = 100
MOST_GROWTH = 0.1
"""By which share the memory of a runner may be above that after its warm-up."""


@dataclass
class Options:
    """How long the suite is to take."""

    server: Kind = "system"
    steps: int = 20_000
    """Of the state machine."""
    rounds: int = 100
    """Kills."""
    calls: int = hour.CALLS
    """Of mixed load."""
    clock_steps: int = 120
    promotions: int = 5
    cuts: int = 30
    """Of the power."""
    fault_seconds: float = 2.0
    """How long load goes on before and after a promotion, and before, while and after a disk is full."""
    jobs: int = 3_000
    """For each runner whose memory is measured."""
    drop_every: int = 1
    """One of so many exchanges is dropped, in each of five ways."""
    seed: int = 17


@dataclass
class Outcome:
    """What a part did."""

    tried: str
    """A sentence, with how often."""
    acknowledged: int | None = None
    """Writes, jobs or calls that were acknowledged and compared; none where there is nothing to count."""
    problems: list[str] = field(default_factory=list)
    """Losses, differences, wrong counters: one line each."""
    measured: dict[str, Any] = field(default_factory=dict)
    """Further figures for results.json."""
    skipped: str | None = None
    """Why the part could not run here."""
    broken: str | None = None
    """The traceback of the error that ended the part before it had anything to say."""


def model(options: Options) -> Outcome:
    """Random operations by several clients, compared with a plain-Python model of the contract, on each processor."""
    processes = len(os.sched_getaffinity(0))
    with ProcessPoolExecutor(processes, multiprocessing.get_context("spawn")) as pool:
        share = dataclasses.replace(options, steps=math.ceil(options.steps / processes))
        seeds = range(options.seed, options.seed + 1_000_000 * processes, 1_000_000)
        parts = list(pool.map(random_runs, [dataclasses.replace(share, seed=chosen) for chosen in seeds]))
    steps, calls, tenant_calls = (sum(numbers) for numbers in zip(*(part[:3] for part in parts), strict=True))
    return Outcome(
        f"{steps:,} random steps with {calls:,} calls, and all lists after each step; {tenant_calls:,} times by a"
        " session of a tenant",
        calls, [problem for part in parts for problem in part[3]],
    )  # fmt: skip


def random_runs(options: Options) -> tuple[int, int, int, list[str]]:
    """Steps, calls, calls by tenants, and differences of one process."""
    warnings.simplefilter("ignore")
    with running_cluster(options.server) as cluster, machine_on(cluster) as machine:
        problems = []
        round_of = itertools.count(options.seed)
        try:
            while machine.steps < options.steps:
                left = options.steps - machine.steps
                run_machine(machine, max(1, round(left / STEPS_OF_A_RUN)), STEPS_OF_A_RUN, next(round_of))
        except Exception as error:
            # The notes are the shortest program that Hypothesis has found.
            problems.append("\n".join([told(error), *getattr(error, "__notes__", [])]))
        return machine.steps, machine.world.calls, machine.world.tenant_calls, problems


def told(error: BaseException) -> str:
    """An error, and those that Hypothesis saw before if the error did not come again."""
    seen = getattr(error, "exceptions", ())
    return "\n".join([f"{type(error).__name__}: {error}", *map(told, seen)])


@contextmanager
def machine_on(cluster: Cluster) -> Iterator[type[Contract]]:
    """The state machine on a database of this server, in which each run begins by forgetting all users."""
    with closing(World(cluster.create("torture_model"))) as world:
        yield type("Machine", (Contract,), {"world": world})


def run_machine(machine: type[Contract], runs: int, steps: int, chosen_seed: int) -> None:
    """So many runs of so many steps; raises Difference with the shortest program that shows the difference."""
    seed(chosen_seed)(machine)
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=runs,
            stateful_step_count=steps,
            deadline=None,
            database=None,
            suppress_health_check=list(HealthCheck),
            phases=[Phase.generate, Phase.shrink],
        ),
    )


def killed(options: Options) -> Outcome:
    """SIGKILL of the server and of backends in writes, jobs, sweeps, erasures and upgrades."""
    with running_cluster(options.server) as cluster:
        done = kills.run(cluster, options.rounds)
        total = sum(done.kills.values())
        if total < options.rounds:
            done.problems.append(f"only {total} of {options.rounds} kills happened")
        listed = ", ".join(f"{count} {kill}" for kill, count in sorted(done.kills.items()))
        return Outcome(f"{total} times SIGKILL: {listed}", done.load.acknowledged, done.problems)


def dropped(options: Options) -> Outcome:
    """The connection drops at every statement of a program."""
    with running_cluster(options.server) as cluster:
        count, told, problems = drops.run(cluster, options.drop_every)
        return Outcome(f"{count} dropped connections, of which the client told {told}", count, problems)


def stepped(options: Options) -> Outcome:
    """Steps of the server's clock."""
    load, problems = clocks.run(options.server, options.clock_steps)
    tried = f"{options.clock_steps} steps of the server's clock between a second and a day, both ways"
    return Outcome(tried, load.acknowledged, problems)


def promoted(options: Options) -> Outcome:
    """The primary is killed, its synchronous standby promoted."""
    outcome = Outcome(f"{options.promotions} promotions of a synchronous standby after SIGKILL of the primary", 0)
    for _ in range(options.promotions):
        load, problems = promotion.run(options.server, options.fault_seconds)
        outcome.acknowledged = (outcome.acknowledged or 0) + load.acknowledged
        outcome.problems += problems
    return outcome


def cut(options: Options) -> Outcome:
    """The power is cut, and what was not synced is lost."""
    load, problems = power.run(options.server, options.cuts)
    return Outcome(
        f"{options.cuts} power cuts, after which only what was synced is left (fsync = on)", load.acknowledged, problems
    )


def filled(options: Options) -> Outcome:
    """The disk of the data, then that of the log, is full for some seconds."""
    failed, acknowledged, problems = 0, 0, []
    for disk, load, refused, wrong in disks.run(options.server, options.fault_seconds):
        failed += load.failures.total()
        acknowledged += load.acknowledged
        problems += wrong
        if not (refused if disk == "log" else load.failures):
            problems.append(f"the disk of the {disk} was not full")
    return Outcome(
        f"the disk of the data full, then that of the log: {failed} calls failed clearly and were repeated",
        acknowledged, problems,
    )  # fmt: skip


def loaded(options: Options) -> Outcome:
    """An hour's mixed load at full speed, then everything that is counted is counted again."""
    with running_cluster(options.server) as cluster:
        load = Hour(cluster, options.calls)
        started = time.monotonic()
        problems = [*load.run(), *load.growth()]
        killed = ", ".join(f"{count} {victim}" for victim, count in sorted(load.kills.items()))
        memory = "; ".join(
            f"{name} {first} MB, then {last} MB"
            for name, measured in load.memory.items()
            for first, last in [span(measured)]
        )
        return Outcome(
            f"{load.answers:,} calls of mixed load by eight clients on {len(load.visitors)} users in"
            f" {time.monotonic() - started:,.0f} s, {load.jobs:,} jobs by a worker and run_jobs(), SIGKILL of {killed};"
            f" memory: {memory}",
            load.acknowledged, problems, measured={"megabytes": load.memory},
        )  # fmt: skip


def grown(options: Options) -> Outcome:
    """The memory of both runners over thousands of jobs."""
    with running_cluster(options.server) as cluster:
        outcome = Outcome("", 0)
        for name in ("database", "worker") if cluster.server.has_plpython else ("worker",):
            measured = flat.measure(cluster, name, options.jobs)
            grows = flat.growth(measured)
            first, last = (round(value / 2**20) for value in (max(measured[: flat.WARM_UP]), measured[-1]))
            outcome.tried += (
                f"{options.jobs:,} jobs by the {name} runner: {first} MB after a warm-up, {last} MB at the end; "
            )
            outcome.acknowledged = (outcome.acknowledged or 0) + options.jobs
            if grows > MOST_GROWTH:
                outcome.problems.append(f"the memory of the {name} runner grows by {grows:.0%}")
        outcome.tried = outcome.tried.removesuffix("; ")
        return outcome


PARTS: dict[str, Callable[[Options], Outcome]] = {
    "model": model,
    "kills": killed,
    "drops": dropped,
    "clocks": stepped,
    "power": cut,
    "promotion": promoted,
    "disks": filled,
    "load": loaded,
    "memory": grown,
}

UNAVAILABLE = (
    clocks.ClockUnavailableError, disks.DiskUnavailableError, power.PowerUnavailableError,
    promotion.StandbyUnavailableError,
)  # fmt: skip


def run(name: str, options: Options) -> Outcome:
    """One part; a part that cannot run here, or that an error ends, says why: the parts after it shall run."""
    try:
        return PARTS[name](options)
    except UNAVAILABLE as error:
        return Outcome("nothing", skipped=str(error))
    except Exception as error:
        return Outcome("nothing", problems=[repr(error)], broken=traceback.format_exc())
