"""The in-database runner: ``call memory.run_jobs()`` on a server with PL/Python."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.support.fake_model_server import HANGING, RATE_LIMITED, SERVER_ERROR, Behaviour, FakeModelServer, rows_of
from tests.support.model_payloads import ENCODINGS
from tests.support.servers import Server
from tests.support.sqlapi import Api

Connect = Callable[..., psycopg.Connection]

CALL = "call memory.run_jobs()"
JOBS = "select status, attempts, error from memory.jobs order by job_id"
RUNNING = "select count(*) from memory.jobs where status = 'running'"
# Its own virtual transaction id is the one thing that every backend holds.
HELD = """
select a.backend_xid is not null or a.backend_xmin is not null
  or exists (select from pg_locks as l where l.pid = a.pid and l.locktype <> 'virtualxid')
from pg_stat_activity as a where a.pid = %s
"""


@pytest.fixture
def api(server: Server, db: psycopg.Connection) -> Api:
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    api = Api(db)
    may_run(api, 10)
    return api


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer() as server:
        yield server


def use(api: Api, fake: FakeModelServer, **settings: Any) -> None:
    """Let the fake server be the model of all jobs."""
    settings = {"base_url": fake.url, **settings}
    api.register_model(name="fake", kind="chat", provider="openai", model="gpt-fake", settings=settings)
    api.activate_model(name="fake")


def may_run(api: Api, jobs: int) -> None:
    """Let a user have so many running jobs."""
    api.set_policy(settings={"jobs": {"max_running_per_user": jobs}})


def queue(api: Api, threads: int, user_id: str = "ana") -> None:
    """One extraction job for each of so many threads."""
    for number in range(threads):
        message = {"role": "user", "content": f"I enjoy {number} kinds of tea."}
        api.add_message(user_id=user_id, thread_id=f"t{number}", **message)
        api.extract_memories(user_id=user_id, thread_id=f"t{number}")


def stored(api: Api) -> set[str]:
    return {row.content for row in api.query("select content from memory.memories")}


@contextmanager
def running_call(api: Api, connect: Connect, jobs: int) -> Iterator[Api]:
    """Call the procedure beside the body, which begins when so many jobs are claimed; hands out another connection."""
    other = Api(connect())
    thread = threading.Thread(target=api.connection.execute, args=(CALL,))
    thread.start()
    deadline = time.monotonic() + 20
    while other.value(RUNNING) < jobs and time.monotonic() < deadline:
        time.sleep(0.02)
    yield other
    thread.join(30)
    assert not thread.is_alive()


@pytest.mark.feature("F6", "E15")
def test_local_jobs_are_done_without_any_package(api: Api) -> None:
    api.talk("ana", "t", rounds=3)
    queue(api, 12)
    api.connection.execute(CALL)
    assert {row.status for row in api.query(JOBS)} == {"completed"}
    assert stored(api) == {f"I enjoy {number} kinds of tea." for number in range(12)}
    [summary] = api.get_thread_summary(user_id="ana", thread_id="t")
    assert summary.summary.startswith("Extractive summary of messages 0 to 5")
    assert api.notices[-1] == "jobs: 14 completed"  # the facts of so many extractions were reconciled
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
    deadline = time.monotonic() + 20
    while not other.value(done) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert other.value(done)
    assert other.value(RUNNING) == len(fake.requests) == 4
    other.connection.execute("select pg_cancel_backend(%s)", (api.connection.info.backend_pid,))
    thread.join(30)


def test_it_stops_at_max_jobs(api: Api) -> None:
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_jobs => 11)")
    assert [row.status for row in api.query(JOBS)].count("completed") == 11


def test_it_claims_nothing_more_after_max_seconds(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=1.1)
    queue(api, 12)
    api.connection.execute("call memory.run_jobs(max_seconds => 1)")
    assert [row.status for row in api.query(JOBS)].count("completed") == 10


@pytest.mark.parametrize("argument", ["max_jobs", "max_seconds"])
@pytest.mark.parametrize("value", ["0", "null"])
def test_bad_limits_are_refused(api: Api, argument: str, value: str) -> None:
    with pytest.raises(psycopg.errors.InvalidParameterValue, match=f"{argument}: ") as raised:
        api.connection.execute(f"call memory.run_jobs({argument} => {value})")
    assert raised.value.diag.message_hint


def test_within_a_transaction_it_claims_nothing(api: Api) -> None:
    queue(api, 1)
    with pytest.raises(psycopg.errors.InvalidTransactionTermination) as raised, api.connection.transaction():
        api.connection.execute(CALL)
    assert "autocommit" in (raised.value.diag.message_hint or "")
    assert api.query(JOBS) == [("pending", 0, None)]


def test_calls_run_together_and_hold_nothing(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=2)
    queue(api, 10)
    with running_call(api, connect, jobs=10) as other:
        while len(fake.requests) < 10:
            time.sleep(0.02)
        pid = api.connection.info.backend_pid
        looks = []
        for _ in range(200):
            looks.append(other.connection.execute(HELD, (pid,)).fetchone() == (True,))
            time.sleep(0.002)
        # For an instant ten times a second it asks PostgreSQL whether to stop.
        assert looks.count(True) <= 20
    assert fake.requests[9].at - fake.requests[0].at < 2
    assert {row.status for row in api.query(JOBS)} == {"completed"}
    assert fake.requests[0].authorization is None


@pytest.mark.parametrize("how", ["timeout", "cancel"])
def test_it_can_be_stopped_and_gives_its_jobs_back(api: Api, connect: Connect, fake: FakeModelServer, how: str) -> None:
    use(api, fake)
    fake.behaviour = HANGING
    queue(api, 3)
    ended: list[float] = []

    def call() -> None:
        with pytest.raises(psycopg.errors.QueryCanceled):
            api.connection.execute(CALL)
        ended.append(time.monotonic())

    if how == "timeout":
        api.connection.execute("set statement_timeout = '3s'")
    thread = threading.Thread(target=call)
    started = time.monotonic()
    thread.start()
    if how == "cancel":
        while len(fake.requests) < 3:
            time.sleep(0.02)
        other = connect()
        started = time.monotonic()
        other.execute("select pg_cancel_backend(%s)", (api.connection.info.backend_pid,))
    thread.join(30)
    assert ended[0] - started < (4 if how == "timeout" else 1)
    api.connection.execute("set statement_timeout = 0")
    assert api.query(JOBS) == [("pending", 0, None)] * 3

    fake.behaviour = Behaviour()
    api.connection.execute(CALL)
    assert {row.status for row in api.query(JOBS)} == {"completed"}


@pytest.mark.feature("F6")
def test_failures_and_rate_limits_are_reported(api: Api, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.next_behaviours = [SERVER_ERROR, RATE_LIMITED]
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
    assert "300000 bytes" in jobs[2].error
    assert stored(api) == {"short"}


@pytest.mark.feature("F6")
def test_a_lost_lease_drops_the_result(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=2)
    queue(api, 2)
    with running_call(api, connect, jobs=2) as other:
        other.connection.execute("update memory.jobs set lease_token = gen_random_uuid() where scope = 't0'")
    assert [row.status for row in api.query(JOBS)] == ["running", "completed"]
    assert stored(api) == {"I enjoy 1 kinds of tea."}
    assert api.notices[-1] == "jobs: 1 completed, 1 lost"
    assert api.value("select count(*) from memory.model_calls where tokens_in > 0") == 2  # both were paid


def test_a_long_call_keeps_its_lease(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    replace_source(api, "LEASE_SECONDS = 300.0", "LEASE_SECONDS = 1.0")
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=3)
    queue(api, 1)
    with running_call(api, connect, jobs=1) as other:
        while not fake.requests:
            time.sleep(0.02)
        time.sleep(1.5)
        assert other.claim_jobs(worker="other") == []
    assert [(row.status, row.attempts) for row in api.query(JOBS)] == [("completed", 1)]


@pytest.mark.feature("F6", "F8")
@pytest.mark.parametrize("signals", [["terminate"], ["cancel", "terminate"], ["terminate", "cancel"]], ids="-".join)
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
    started = time.monotonic()
    for name in signals:  # within one turn
        api.query(f"select pg_{name}_backend(%(pid)s)", pid=runner.info.backend_pid)
    thread.join(30)
    assert time.monotonic() - started < 1
    assert api.query(JOBS) == [("pending", 0, None)] * 3
    assert api.query("select distinct tokens_in, error from memory.model_calls") == [(None, "cancelled")]


@pytest.mark.feature("F6", "F8")
def test_a_result_that_cannot_be_stored_yet_waits_and_holds_nobody_up(
    api: Api, connect: Connect, fake: FakeModelServer
) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=0.5)
    queue(api, 3)
    blocker = connect()
    blocker.autocommit = False
    with running_call(api, connect, jobs=3) as other:
        blocker.execute("select from memory.jobs where scope = 't0' for update")
        wait_until(lambda: other.value("select count(*) from memory.jobs where status = 'completed'") == 2)
        time.sleep(1.5)  # several attempts
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
    replace_source(api, 'LOCK_TIMEOUT = "200ms"', 'LOCK_TIMEOUT = "20s"')
    use(api, fake)
    fake.next_behaviours = [Behaviour()]
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
    wait_until(lambda: other.value("select count(*) from pg_locks where not granted and pid = %(pid)s", pid=pid) > 0)
    other.query("select pg_cancel_backend(%(pid)s)", pid=pid)
    thread.join(30)
    assert cancelled.is_set()
    blocker.rollback()
    assert api.query(JOBS) == [("pending", 0, None)] * 3
    calls = api.query("select tokens_in > 0, error from memory.model_calls order by error nulls first")
    assert calls == [(True, None), (None, "cancelled"), (None, "cancelled")]


@pytest.mark.feature("A5")
def test_tokens_are_counted_in_the_database(api: Api) -> None:
    if not ENCODINGS.exists():
        pytest.skip(f"tiktoken's encodings are not in {ENCODINGS}")
    set_environment(api, TIKTOKEN_CACHE_DIR=str(ENCODINGS))
    queue(api, 1)
    counts = "select token_count, is_counted from memory.messages"
    assert [row.is_counted for row in api.query(counts)] == [False]
    api.connection.execute(CALL)
    assert api.query(counts) == [(8, True)]


def test_keys_can_come_from_a_file(api: Api, fake: FakeModelServer, server: Server) -> None:
    use(api, fake, api_key_file="model.key")
    queue(api, 1)
    folder = Path(server.host, "keys")
    folder.mkdir(exist_ok=True)
    (folder / "model.key").write_text("sk-from-file\n")
    set_environment(api, AGENT_MEMORY_KEY_DIR=str(folder))
    api.connection.execute(CALL)
    assert "can be read or written by others" in api.value("select error from memory.jobs")
    (folder / "model.key").chmod(0o600)
    if os.geteuid() == 0:  # then the server belongs to another user
        os.chown(folder / "model.key", Path(server.host).stat().st_uid, -1)
    api.query("update memory.jobs set run_after = now() returning 1")
    api.connection.execute(CALL)
    assert [request.authorization for request in fake.requests] == ["Bearer sk-from-file"]


def test_an_upgrade_reaches_a_live_session(api: Api) -> None:
    queue(api, 1)
    api.connection.execute(CALL)
    replace_source(api, "jobs: {counts}", "upgraded jobs: {counts}")
    queue(api, 2)
    api.connection.execute(CALL)
    assert api.notices[-1].startswith("upgraded jobs: ")


def test_helper_threads_leave_signals_to_the_backend(api: Api, connect: Connect, fake: FakeModelServer) -> None:
    use(api, fake)
    fake.behaviour = Behaviour(delay_seconds=2)
    queue(api, 1)
    with running_call(api, connect, jobs=1):
        while not fake.requests:
            time.sleep(0.02)
        pid = api.connection.info.backend_pid
        threads = [path for path in Path(f"/proc/{pid}/task").iterdir() if path.name != str(pid)]
        blocked = [_blocked_signals(path / "status") for path in threads]
    assert blocked, "the openai client starts a thread of its own"
    hup, int_, quit_, usr1, usr2, alrm, term = (1 << number - 1 for number in (1, 2, 3, 10, 12, 14, 15))
    handled = hup | int_ | quit_ | usr1 | usr2 | alrm | term
    assert all(mask & handled == handled for mask in blocked)
    assert len(list(Path(f"/proc/{pid}/task").iterdir())) == 1, "the threads end with the call"


def _blocked_signals(status: Path) -> int:
    [line] = [line for line in status.read_text().splitlines() if line.startswith("SigBlk:")]
    return int(line.split()[1], 16)


def set_environment(api: Api, **variables: str) -> None:
    """Change the environment of the session's backend, as if the server had been started with it."""
    api.connection.execute(f"do $$ import os; os.environ.update({variables!r}) $$ language plpython3u")


def wait_until(happened: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 20
    while not happened():
        assert time.monotonic() < deadline
        time.sleep(0.02)


def replace_source(api: Api, old: str, new: str) -> None:
    """Change a line of the embedded package, as an upgrade would."""
    source = api.value("select pg_get_functiondef('memory._load_models'::regproc)")
    assert old in source
    api.connection.execute(source.replace(old, new))
