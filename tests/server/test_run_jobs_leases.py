"""The in-database runner keeps leases, and gives jobs back when it is cancelled or terminated."""

from __future__ import annotations

import threading
import time
from functools import partial

import psycopg
import pytest

from tests.server.steps import (
    CALL,
    JOBS,
    RUNNING,
    Connect,
    queue,
    replace_source,
    running_call,
    stored,
    use,
)
from tests.support.fake_model_server import HANGING, Behaviour, FakeModelServer
from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api


@pytest.mark.feature("F6")
def test_a_lost_lease_drops_the_result(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    queue(api, 2)
    with running_call(api, connect, jobs=2) as other:
        other.connection.execute("update memory.jobs set lease_token = gen_random_uuid() where scope = 't0'")
        gate.set()
    assert [row.status for row in api.query(JOBS)] == ["running", "completed"]
    assert stored(api) == {"I enjoy 1 kinds of tea."}
    assert api.notices[-1] == "jobs: 1 completed, 1 lost"
    assert api.value("select count(*) from memory.model_calls where tokens_in > 0") == 2  # both were paid


def test_a_long_call_keeps_its_lease(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    replace_source(api, "+ LEASE_SECONDS / 3", "+ 0.2")  # the lease lasts five minutes on the busiest machine
    use(api, fake)
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    queue(api, 1)
    with running_call(api, connect, jobs=1) as other:
        wait_until(lambda: fake.requests)
        for _ in range(2):
            nearly_over = other.value(
                "update memory.jobs set lease_expires_at = clock_timestamp() + interval '1 minute'"
                " returning lease_expires_at"
            )
            extended = f"select lease_expires_at > '{nearly_over}'::timestamptz + interval '3 minutes' from memory.jobs"
            wait_until(partial(other.value, extended))
        assert other.claim_jobs(worker="other") == []
        gate.set()
    assert [(row.status, row.attempts) for row in api.query(JOBS)] == [("completed", 1)]


@pytest.mark.feature("F6", "F8")
@pytest.mark.parametrize("signals", [["cancel", "terminate"], ["terminate", "cancel"]], ids="-".join)
def test_a_terminated_runner_gives_its_jobs_back(
    api: Api, connect: Connect, fake: FakeModelServer, signals: list[str]
) -> None:
    use(api, fake)
    fake.behaviour = HANGING
    queue(api, 3)

    runner = connect()

    def call() -> None:
        with pytest.raises((psycopg.errors.AdminShutdown, psycopg.errors.QueryCanceled)):
            runner.execute(CALL)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: len(fake.requests) == 3)
    calls = ", ".join(f"pg_{name}_backend(%(pid)s)" for name in signals)
    api.query(f"select {calls}", pid=runner.info.backend_pid)
    thread.join(PATIENCE)
    jobs = api.query(JOBS)
    if signals[0] == "cancel" and jobs[0].status == "running":
        # On a busy machine the runner may act on the cancel alone. A termination that meets the aborted statement
        # leaves the jobs to their leases.
        api.connection.execute("update memory.jobs set lease_expires_at = now() where status = 'running'")
        assert len(api.claim_jobs(worker="other", max_jobs=3)) == 3
    else:
        # A runner that waits for the model instead leaves the error of the model's time limit.
        assert jobs == [("pending", 0, None)] * 3
        assert api.query("select distinct tokens_in, error from memory.model_calls") == [(None, "cancelled")]


@pytest.mark.feature("F6", "F8")
def test_a_result_that_cannot_be_stored_yet_waits_and_holds_nobody_up(
    api: Api, connect: Connect, fake: FakeModelServer
) -> None:
    use(api, fake)
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    queue(api, 3)
    blocker = connect()
    blocker.autocommit = False
    with running_call(api, connect, jobs=3) as other:
        blocker.execute("select from memory.jobs where scope = 't0' for update")
        gate.set()
        wait_until(lambda: other.value("select count(*) from memory.jobs where status = 'completed'") == 2)
        time.sleep(0.8)  # several attempts
        assert other.value(RUNNING) == 1
        assert len(fake.requests) == 3
        blocker.rollback()
    assert {row.status for row in api.query(JOBS)} == {"completed"}
    assert stored(api) == {f"I enjoy {number} kinds of tea." for number in range(3)}
    assert api.value("select count(*) from memory.model_calls") == 3


@pytest.mark.feature("F6", "F8")
def test_a_cancel_while_a_result_is_handed_in_gives_all_jobs_back(
    api: Api, connect: Connect, fake: FakeModelServer
) -> None:
    replace_source(api, 'LOCK_TIMEOUT = "200ms"', 'LOCK_TIMEOUT = "10min"')
    use(api, fake)
    gate = threading.Event()
    fake.next_behaviours = [Behaviour(gate=gate)]
    fake.behaviour = HANGING
    queue(api, 3)
    blocker = connect()
    blocker.autocommit = False
    blocker.execute("lock table memory.memories in share mode")  # what the one result is stored in
    cancelled = threading.Event()

    def call() -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            api.connection.execute(CALL)
        cancelled.set()

    thread = threading.Thread(target=call)
    thread.start()
    other = Api(connect())
    pid = api.connection.info.backend_pid
    wait_until(lambda: len(fake.requests) == 3)
    gate.set()
    wait_until(lambda: other.value("select count(*) from pg_locks where not granted and pid = %(pid)s", pid=pid) > 0)
    other.query("select pg_cancel_backend(%(pid)s)", pid=pid)
    thread.join(PATIENCE)
    assert cancelled.is_set()
    blocker.rollback()
    assert api.query(JOBS) == [("pending", 0, None)] * 3
    calls = api.query("select tokens_in > 0, error from memory.model_calls order by error nulls first")
    assert calls == [(True, None), (None, "cancelled"), (None, "cancelled")]
