"""The in-database runner, ``call memory.run_jobs()``: which jobs it does, its limits, and how it is stopped."""

from __future__ import annotations

import threading
import time
from typing import Any

import psycopg
import pytest

from tests.server.steps import CALL, JOBS, RUNNING, Connect, may_run, queue, running_call, stored, use
from tests.support.fake_model_server import GATEWAY_TIMEOUT, HANGING, RATE_LIMITED, Behaviour, FakeModelServer
from tests.support.model_rules import rows_of
from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api
from tests.support.summaries import each_round

# Its own virtual transaction id is the one thing that every backend holds.
HELD = """
select a.backend_xid is not null or a.backend_xmin is not null
  or exists (select from pg_locks as l where l.pid = a.pid and l.locktype <> 'virtualxid')
from pg_stat_activity as a where a.pid = %s
"""


@pytest.mark.feature("F6", "E15")
def test_local_jobs_are_done_without_any_package(api: Api) -> None:
    each_round(api)
    api.talk("ana", "t", rounds=3)
    queue(api, 12)
    api.connection.execute(CALL)
    jobs = api.query(JOBS)
    assert {row.status for row in jobs} == {"completed"}
    assert stored(api) == {f"I enjoy {number} kinds of tea." for number in range(12)}
    [summary] = api.get_thread_summary(user_id="ana", thread_id="t")
    assert summary.summary.startswith("Extractive summary of messages 0 to 5")
    assert api.notices[-1] == f"jobs: {len(jobs)} completed"
    api.connection.execute(
        "do $$ import sys; assert not {'openai', 'pydantic'} & set(sys.modules) $$ language plpython3u"
    )


@pytest.mark.feature("F20")
def test_a_run_does_not_end_while_its_own_jobs_keep_others_of_their_user_back(api: Api) -> None:
    may_run(api, 2)
    queue(api, 7)
    api.connection.execute(CALL)
    assert {row.status for row in api.query(JOBS)} == {"completed"}


@pytest.mark.feature("F20")
def test_hanging_calls_of_one_user_do_not_keep_another_waiting(
    api: Api, connect: Connect, fake: FakeModelServer
) -> None:
    use(api, fake)
    may_run(api, 4)
    fake.behaviour = HANGING
    queue(api, 10)
    other = Api(connect())
    done = "select exists (select from memory.jobs where user_id = 'bob' and status = 'completed')"

    def call() -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            api.connection.execute(CALL)

    thread = threading.Thread(target=call)
    thread.start()
    wait_until(lambda: len(fake.requests) == 4)
    other.activate_model(name="local")  # for the jobs to come; those calls hang
    queue(other, 1, user_id="bob")
    wait_until(lambda: other.value(done))
    assert other.value(RUNNING) == len(fake.requests) == 4
    other.connection.execute("select pg_cancel_backend(%s)", (api.connection.info.backend_pid,))
    thread.join(PATIENCE)


def test_it_stops_at_max_jobs(api: Api) -> None:
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_jobs => 11)")
    assert [row.status for row in api.query(JOBS)].count("completed") == 11


def test_it_claims_nothing_more_after_max_seconds(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=1.1)
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_seconds => 1)")
    # Ten run at the same time; on a busy machine a claim may have found fewer before the second was over.
    assert 0 < [row.status for row in api.query(JOBS)].count("completed") <= 10


@pytest.mark.parametrize("argument", ["max_jobs", "max_seconds"])
@pytest.mark.parametrize("value", ["0", "null"])
def test_bad_limits_are_refused(api: Api, argument: str, value: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue) as raised:
        api.connection.execute(f"call memory.run_jobs({argument} => {value})")
    problem = "must not be null" if value == "null" else "0 is not positive"
    assert raised.value.diag.message_primary == f"{argument}: {problem}"
    assert raised.value.diag.message_hint


def test_within_a_transaction_it_claims_nothing(api: Api) -> None:
    queue(api, 1)
    with pytest.raises(psycopg.errors.InvalidTransactionTermination) as raised, api.connection.transaction():
        api.connection.execute(CALL)
    assert raised.value.diag.message_primary == "memory.run_jobs(): it cannot run inside a transaction or a function"
    assert "autocommit" in (raised.value.diag.message_hint or "")
    assert api.query(JOBS) == [("pending", 0, None)]


def test_calls_run_together_and_hold_nothing(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    queue(api, 10)
    with running_call(api, connect, jobs=10) as other:
        wait_until(lambda: len(fake.requests) == 10)
        pid = api.connection.info.backend_pid

        def holds_nothing() -> bool:
            looks = []
            for _ in range(200):
                looks.append(other.connection.execute(HELD, (pid,)).fetchone() == (True,))
                time.sleep(0.002)
            # For an instant ten times a second it asks PostgreSQL whether to stop.
            return looks.count(True) <= 20

        wait_until(holds_nothing)  # that instant is long when others get the processor in its middle
        gate.set()
    assert {row.status for row in api.query(JOBS)} == {"completed"}
    assert fake.requests[0].authorization is None


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_it_can_be_stopped_and_gives_its_jobs_back(api: Api, connect: Connect, fake: FakeModelServer, how: str) -> None:
    use(api, fake)
    fake.behaviour = HANGING
    queue(api, 3)
    other = connect()

    def call() -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            api.connection.execute(CALL)

    if how == "timeout":
        api.connection.execute("set statement_timeout = '3s'")
    thread = threading.Thread(target=call)
    thread.start()
    if how == "cancel":
        wait_until(lambda: len(fake.requests) == 3)
        other.execute("select pg_cancel_backend(%s)", (api.connection.info.backend_pid,))
    thread.join(PATIENCE)
    api.connection.execute("set statement_timeout = 0")
    # A runner that waits for the model instead leaves the error of the model's time limit.
    assert api.query(JOBS) == [("pending", 0, None)] * 3

    fake.behaviour = Behaviour()
    api.connection.execute(CALL)
    assert {row.status for row in api.query(JOBS)} == {"completed"}


@pytest.mark.feature("F6")
def test_failures_and_rate_limits_are_reported(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.next_behaviours = [GATEWAY_TIMEOUT, RATE_LIMITED]
    queue(api, 3)
    api.connection.execute(CALL)
    assert sorted((row.status, row.attempts, bool(row.error)) for row in api.query(JOBS)) == [
        ("completed", 1, False),
        ("pending", 0, False),
        ("pending", 1, True),
    ]
    [error] = [row.error for row in api.query(JOBS) if row.error]
    assert api.notices[-1] == f"jobs: 1 completed, 1 failed, 1 released; last error: {error[:200]}"
    later = "select extract(epoch from run_after - created_at)::float8 from memory.jobs where status = 'pending'"
    assert all(row[0] >= 7 for row in api.query(later))


def test_a_refused_result_fails_the_job_and_no_other(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    queue(api, 2)
    api.add_message(user_id="ana", thread_id="big", role="user", content="x")
    api.extract_memories(user_id="ana", thread_id="big")

    def answer(body: dict[str, Any]) -> str:
        [message] = rows_of(body["messages"][1]["content"], "conversation")
        content = "y" * 300_000 if message["content"] == "x" else "short"
        return (
            f'{{"memories": [{{"content": "{content}", "memory_type": "fact", "confidence": 1, "importance": 1, '
            '"seqs": [0]}]}'
        )

    fake.behaviour = Behaviour(answer=answer)
    api.connection.execute(CALL)
    jobs = api.query(JOBS)
    assert [row.status for row in jobs] == ["completed", "completed", "pending"]
    assert jobs[2].error.startswith("result: memories is refused (malformed)")
    assert stored(api) == {"short"}
