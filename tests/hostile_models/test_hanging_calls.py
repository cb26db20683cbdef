"""Calls that hang or are slow: they hold no lock, can be stopped, and run at the same time."""

from __future__ import annotations

import statistics
import time
from typing import Any

import psycopg
import pytest

from tests.hostile_models.steps import (
    JOBS,
    LEDGER,
    REPLIES,
    HostileServer,
    bystanders,
    own_state,
    queue_every_kind,
    work,
)
from tests.support.fake_model_server import HANGING
from tests.support.runners import DatabaseRunner, Runner, wait_until
from tests.support.sqlapi import Api


def warm_up(api: Api, fake: HostileServer, runner: Runner) -> None:
    """Let the runner load its packages, which takes a second."""
    api.extract_memories(user_id="bob", thread_id="t")
    work(runner)
    api.connection.execute("delete from memory.jobs; delete from memory.model_calls")
    fake.requests.clear()


# Whether the runner's connections hold anything. Its own virtual transaction id is what every backend has.
HELD = """
select coalesce(max(clock_timestamp() - a.xact_start), '0') as age,
  count(a.backend_xid) + count(a.backend_xmin) > 0
    or exists (select from pg_locks as l where l.pid = any (%(pids)s) and l.locktype <> 'virtualxid') as holds
from pg_stat_activity as a where a.pid = any (%(pids)s)
"""


@pytest.mark.feature("F8", "D10")
def test_a_hanging_call_holds_nothing_and_appends_go_on(api: Api, fake: HostileServer, runner: Runner) -> None:
    looks: list[Any] = []

    def median_of_appends() -> float:
        seconds = []
        for _ in range(60):
            started = time.perf_counter()
            api.add_message(user_id="ana", thread_id="t", role="user", content="Are you still there?")
            seconds.append(time.perf_counter() - started)
            looks.extend(api.query(HELD, pids=runner.backends())[0] for _ in range(3))
            time.sleep(0.02)
        return statistics.median(seconds)

    without = median_of_appends()
    looks.clear()
    fake.behaviour = HANGING
    for kind in ("extract_memories", "summarize_thread", "compress_thread"):
        getattr(api, kind)(user_id="ana", thread_id="t")
    runner.start()
    wait_until(lambda: len(fake.requests) == 3)

    def nobody_is_held_up() -> bool:
        looks.clear()
        return (
            median_of_appends() < 5 * without
            # A runner looks at the queue, or asks whether to stop, a few times a second.
            and [look.holds for look in looks].count(True) < 0.1 * len(looks)
            and max(look.age for look in looks).total_seconds() < 2
        )

    wait_until(nobody_is_held_up)  # once is enough: during other looks the machine may be busy with other processes
    assert len(fake.requests) == 3


STOPS = [("database", "cancel"), ("database", "timeout"), ("database", "terminate"), ("worker", "terminate")]


@pytest.mark.feature("F6", "F7", "F8")
@pytest.mark.parametrize(("runner", "how"), STOPS, indirect=["runner"], ids=["-".join(stop) for stop in STOPS])
def test_a_hanging_call_can_be_stopped(api: Api, fake: HostileServer, runner: Runner, how: str) -> None:
    warm_up(api, fake, runner)
    fake.behaviour = HANGING
    others = bystanders(api)
    queue_every_kind(api)
    own = own_state(api)
    if how == "timeout":
        assert isinstance(runner, DatabaseRunner)
        limit = 1
        while len(fake.requests) < len(REPLIES):  # a busy machine needs longer until all calls are under way
            limit *= 2
            fake.requests.clear()
            api.connection.execute("delete from memory.model_calls")
            runner.limit(limit)
            started = time.monotonic()
            with pytest.raises(psycopg.errors.QueryCanceled):
                work(runner)
            taken = time.monotonic() - started - limit
        runner.limit(0)
    else:
        runner.start()
        wait_until(lambda: len(fake.requests) == len(REPLIES))
        taken = runner.stop(how)
    assert len(fake.requests) == len(REPLIES)
    assert taken < 30  # a call lasts 60 s; a worker takes 3.7 s on a machine where sixteen processes run
    assert [(job.status, job.attempts, job.error) for job in api.query(JOBS)] == [("pending", 0, None)] * len(REPLIES)
    assert api.query(LEDGER) == [(None, None, "cancelled")] * len(REPLIES)
    assert own_state(api) == own
    assert bystanders(api) == others
