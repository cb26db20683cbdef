"""The external worker, in this process with models of the test's own, and as the command that people run."""

import asyncio
import json
import logging
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager
from datetime import datetime, timedelta, timezone
from importlib.metadata import version
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import AsyncMemory, ClaimedJob, Memory, NotInstalledError
from agent_memory.worker import CHANNEL, Worker, WorkerCounts, database, listening, outcomes
from agent_memory.worker.health import NotAliveError, check_health
from agent_memory_models import ModelError, RateLimitedError
from psycopg.conninfo import make_conninfo

Connect = Callable[..., psycopg.Connection]
HOUR = 3600.0


@pytest.fixture
def memory(db: psycopg.Connection) -> Memory:
    """Queues no jobs but those that are asked for."""
    memory = Memory(db)
    memory.set_policy({"cadence": {"reconcile_every_n": 0}, "jobs": {"max_running_per_user": 25}})
    return memory


class Scripted:
    """Models that do what the test says, each job with one call of 70 tokens in and 3 out."""

    def __init__(self, run: Callable[[dict[str, Any]], Awaitable[dict[str, Any]]]) -> None:
        self.calls = 0
        self._run = run

    async def run(self, kind: str, payload: dict[str, Any], calls: list[dict[str, Any]]) -> dict[str, Any]:
        assert kind == "extract_memories"
        self.calls += 1
        call = {"kind": kind, "model": payload["model"]["name"], "tokens_in": 70, "tokens_out": 3, "duration_ms": 5}
        error = "cancelled"
        try:
            result = await self._run(payload)
            error = ""
            return result
        except Exception as raised:
            error = type(raised).__name__
            raise
        finally:
            calls.append({**call, "error": error or None, "prompt_version": None})


def raising(error: Exception) -> Scripted:
    async def run(_: dict[str, Any]) -> dict[str, Any]:
        raise error

    return Scripted(run)


def finding(content: str, seconds: float = 0.0) -> Scripted:
    async def run(payload: dict[str, Any]) -> dict[str, Any]:
        await asyncio.sleep(seconds)
        seqs = [message["seq"] for message in payload["messages"]]
        return {"memories": [{"content": content, "memory_type": "fact", "seqs": seqs}]}

    return Scripted(run)


def queue(memory: Memory, threads: int = 1) -> list[int]:
    jobs = []
    for number in range(threads):
        memory.add_message("ana", f"t{number}", "user", f"My name is Ana, take {number}.")
        jobs.append(memory.extract_memories("ana", f"t{number}"))
    return jobs


def run_once(dsn: str, **options: Any) -> WorkerCounts:
    return asyncio.run(Worker(dsn, **options).run(once=True))


def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list_memories("ana"))


def attempts(db: psycopg.Connection) -> list[int]:
    return [row[0] for row in db.execute("select attempts from memory.jobs order by job_id")]


def ledger(db: psycopg.Connection) -> list[tuple[int, int, str | None]]:
    return db.execute("select tokens_in, tokens_out, error from memory.model_calls").fetchall()


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that a worker in the same event loop does."""
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        await asyncio.sleep(0.02)


@asynccontextmanager
async def running(dsn: str, **options: Any) -> AsyncIterator[Worker]:
    """A worker beside the body, stopped after it."""
    beside = Worker(dsn, **options)
    task = asyncio.create_task(beside.run())
    yield beside
    beside.stop()
    await task


class TestOutcomes:
    @pytest.mark.feature("F6")
    def test_once_works_until_nothing_is_left(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory, threads=25)
        memory.summarize_thread("ana", "t0")
        assert run_once(dsn) == WorkerCounts(completed=26)
        assert contents(memory) == sorted(f"My name is Ana, take {number}." for number in range(25))
        assert memory.get_thread_summary("ana", "t0") is not None
        assert run_once(dsn) == WorkerCounts()
        assert set(attempts(db)) == {1}

    def test_calls_run_at_the_same_time_up_to_the_limit(self, dsn: str, memory: Memory) -> None:
        queue(memory, threads=12)
        running, most = 0, 0

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            await asyncio.sleep(0.1)
            running -= 1
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run), concurrency=5) == WorkerCounts(completed=12)
        assert most == 5

    @pytest.mark.feature("F20")
    def test_once_does_not_end_while_its_own_jobs_keep_others_of_their_user_back(
        self, dsn: str, memory: Memory
    ) -> None:
        memory.set_policy({"jobs": {"max_running_per_user": 2}})
        queue(memory, threads=7)
        assert run_once(dsn, models=finding("tea", seconds=0.02), poll_interval=60.0) == WorkerCounts(completed=7)

    @pytest.mark.feature("F20")
    def test_hanging_calls_of_one_user_do_not_keep_another_waiting(self, dsn: str, memory: Memory) -> None:
        memory.set_policy({"jobs": {"max_running_per_user": 4}})
        queue(memory, threads=10)

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            if payload["thread_id"] != "bob's":
                await asyncio.sleep(HOUR)
            return {"memories": []}

        models = Scripted(run)

        async def scenario() -> None:
            async with running(dsn, models=models, poll_interval=0.05) as beside:
                await until(lambda: models.calls == 4)
                memory.add_message("bob", "bob's", "user", "Hello")
                memory.extract_memories("bob", "bob's")
                await until(lambda: beside.counts.completed == 1)

        asyncio.run(scenario())
        assert models.calls == 5

    def test_kinds(self, dsn: str, memory: Memory) -> None:
        queue(memory)
        assert run_once(dsn, kinds=["summarize_thread"]) == WorkerCounts()

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (ModelError("the model answered nonsense\0"), "the model answered nonsense"),
            (ZeroDivisionError("what a user said"), "ZeroDivisionError at test_worker"),
        ],
    )
    def test_a_failure_is_reported(self, dsn: str, memory: Memory, error: Exception, reason: str) -> None:
        [job_id] = queue(memory)
        assert run_once(dsn, models=raising(error)) == WorkerCounts(failed=1)
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts, (job.error or "").partition(":")[0]) == ("pending", 1, reason)

    @pytest.mark.parametrize(
        "result",
        [{"memories": [{"content": "x", "memory_type": "unknown", "seqs": [0]}]}, {"memories": 1}, {"a": "\0"}],
    )
    def test_a_refused_result_is_a_failure(self, dsn: str, memory: Memory, result: dict[str, Any]) -> None:
        [job_id] = queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            return result

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(failed=1)
        job = memory.get_job("ana", job_id)
        assert job.status == "pending"
        assert job.error is not None
        assert job.error.startswith(("result: ", "the result could not be stored: SQLSTATE 22"))
        assert contents(memory) == []

    def test_a_rate_limit_gives_the_attempt_back(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)
        models = raising(RateLimitedError("slow down", retry_after=HOUR))
        assert run_once(dsn, models=models) == WorkerCounts(released=1)
        assert models.calls == 1
        assert attempts(db) == [0]
        row = db.execute("select run_after > now() + interval '59 minutes' from memory.jobs").fetchone()
        assert row == (True,)


class TestLeases:
    def test_the_heartbeat_keeps_a_long_call(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)

        async def scenario() -> tuple[WorkerCounts, WorkerCounts]:
            slow = Worker(dsn, models=finding("slow", seconds=2.5), lease=timedelta(seconds=1))
            other = Worker(dsn, models=finding("other"), poll_interval=0.1)
            working = asyncio.create_task(slow.run(once=True))
            await asyncio.sleep(0.5)
            waiting = asyncio.create_task(other.run())
            counts = await working
            other.stop()
            return counts, await waiting

        assert asyncio.run(scenario()) == (WorkerCounts(completed=1), WorkerCounts())
        assert contents(memory) == ["slow"]
        assert attempts(db) == [1]

    def test_a_result_without_a_lease_is_dropped(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            connect().execute("update memory.jobs set lease_token = gen_random_uuid()")
            return {"memories": [{"content": "too late", "memory_type": "fact", "seqs": [0]}]}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(lost=1)
        assert contents(memory) == []

    def test_a_call_without_a_lease_is_given_up(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            connect().execute("update memory.jobs set lease_token = gen_random_uuid()")
            await asyncio.sleep(HOUR)
            raise AssertionError

        assert run_once(dsn, models=Scripted(run), lease=timedelta(seconds=1)) == WorkerCounts(lost=1)

    def test_two_workers_do_each_job_once(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory, threads=60)
        models = finding("seen", seconds=0.01)

        async def scenario() -> list[WorkerCounts]:
            return await asyncio.gather(*(Worker(dsn, models=models, concurrency=5).run(once=True) for _ in range(2)))

        first, second = asyncio.run(scenario())
        assert first.completed + second.completed == models.calls == 60
        assert min(first.completed, second.completed) > 0
        assert attempts(db) == [1] * 60

    def test_nothing_is_open_during_a_call(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory)
        open_transactions: list[Any] = []

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            open_transactions.extend(
                connect().execute(
                    "select state, query from pg_stat_activity where application_name = 'agent-memory worker'"
                    " and datname = current_database() and (xact_start, backend_xmin, backend_xid) is not null"
                )
            )
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(completed=1)
        assert open_transactions == []

    def test_a_lost_connection_is_opened_again(self, dsn: str, connect: Connect, memory: Memory) -> None:
        queue(memory, threads=3)

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            terminated = connect().execute(
                "select count(pg_terminate_backend(pid, 5000)) from pg_stat_activity"
                " where application_name = 'agent-memory worker' and datname = current_database()"
            )
            assert terminated.fetchone() != (0,)
            return {"memories": [{"content": payload["thread_id"], "memory_type": "fact", "seqs": [0]}]}

        counts = run_once(dsn, models=Scripted(run), concurrency=1)
        assert (counts.completed, counts.lost) == (3, 0)
        assert contents(memory) == ["t0", "t1", "t2"]


class TestLedger:
    @pytest.mark.feature("F7")
    @pytest.mark.parametrize(
        ("error", "counts"),
        [
            (None, WorkerCounts(completed=1)),
            ("ModelError", WorkerCounts(failed=1)),
            ("RateLimitedError", WorkerCounts(released=1)),
        ],
    )
    def test_each_call_is_entered(
        self, dsn: str, db: psycopg.Connection, memory: Memory, error: str | None, counts: WorkerCounts
    ) -> None:
        queue(memory)
        errors = {"ModelError": ModelError("nonsense"), "RateLimitedError": RateLimitedError("slow down", HOUR)}
        models = finding("x") if error is None else raising(errors[error])
        assert run_once(dsn, models=models) == counts
        assert ledger(db) == [(70, 3, error)]

    @pytest.mark.feature("F7")
    def test_a_refused_result_was_paid_for(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            return {"memories": "none"}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(failed=1)
        assert ledger(db) == [(70, 3, None)]

    @pytest.mark.feature("F7")
    @pytest.mark.parametrize(("seconds", "error"), [(0.0, None), (HOUR, "cancelled")])
    def test_a_call_whose_lease_was_lost_was_paid_for(
        self,
        dsn: str,
        connect: Connect,
        db: psycopg.Connection,
        memory: Memory,
        seconds: float,
        error: str | None,
    ) -> None:
        queue(memory)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            connect().execute("update memory.jobs set lease_token = gen_random_uuid()")
            await asyncio.sleep(seconds)
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run), lease=timedelta(seconds=1)) == WorkerCounts(lost=1)
        assert ledger(db) == [(70, 3, error)]

    def test_a_result_whose_acceptance_was_not_heard_is_entered_once(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        queue(memory)
        complete_job = AsyncMemory.complete_job

        async def cut_off(self: AsyncMemory, *arguments: Any) -> None:
            await complete_job(self, *arguments)
            raise psycopg.OperationalError("the connection is lost")

        monkeypatch.setattr(database, "FIRST_BACKOFF", 0.01)
        monkeypatch.setattr(AsyncMemory, "complete_job", cut_off)
        assert run_once(dsn, models=finding("x")) == WorkerCounts(lost=1)
        assert contents(memory) == ["x"]
        assert ledger(db) == [(70, 3, None)]


class TestContention:
    @pytest.mark.feature("F6")
    @pytest.mark.parametrize("code", ["40001", "40P01", "55P03"])
    def test_a_hand_in_that_others_disturb_is_repeated(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch, code: str
    ) -> None:
        monkeypatch.setattr(database, "FIRST_BACKOFF", 0.01)
        queue(memory)
        # What a sequence counts survives the rollback.
        db.execute("create sequence tries")
        db.execute(
            "create function disturb() returns trigger language plpgsql as $$ begin if nextval('public.tries') < 3"
            f" then raise 'disturbed' using errcode = '{code}'; end if; return new; end $$"
        )
        db.execute(
            "create trigger disturb before update on memory.jobs for each row when (new.status = 'completed')"
            " execute function disturb()"
        )
        assert run_once(dsn, models=finding("x")) == WorkerCounts(completed=1)
        assert db.execute("select last_value from tries").fetchone() == (3,)
        assert (contents(memory), ledger(db)) == (["x"], [(70, 3, None)])

    @pytest.mark.feature("F6")
    def test_a_lock_delays_its_own_job_only(
        self,
        dsn: str,
        connect: Connect,
        memory: Memory,
        monkeypatch: pytest.MonkeyPatch,
        caplog: pytest.LogCaptureFixture,
    ) -> None:
        monkeypatch.setattr(database, "LOCK_TIMEOUT", 100)
        jobs = queue(memory, threads=10)
        application = connect()

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            if payload["thread_id"] == "t0":
                application.execute("begin")
                application.execute("select from memory.jobs where scope = 't0' for update")
            return {"memories": []}

        async def scenario() -> None:
            async with running(dsn, models=Scripted(run), concurrency=2) as beside:
                await until(lambda: beside.counts.completed == 9 and "lock timeout" in caplog.text)
                assert memory.get_job("ana", jobs[0]).status == "running"
                application.execute("rollback")
                await until(lambda: beside.counts.completed == 10)

        asyncio.run(scenario())
        assert memory.get_job("ana", jobs[0]).attempts == 1


class TestListening:
    LISTENING = """
        select pid from pg_stat_activity
        where datname = current_database() and query = 'listen agent_memory_jobs' and state = 'idle'
    """

    def test_a_notification_wakes_it(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looks = 0
        claim_jobs = AsyncMemory.claim_jobs

        async def counted(self: AsyncMemory, *arguments: Any, **options: Any) -> list[ClaimedJob]:
            nonlocal looks
            jobs = await claim_jobs(self, *arguments, **options)
            looks += 1
            return jobs

        monkeypatch.setattr(AsyncMemory, "claim_jobs", counted)
        monkeypatch.setattr(listening, "LISTEN_PAUSE", 0.5)

        async def scenario() -> None:
            async with running(dsn, models=finding("x"), listen=True, poll_interval=HOUR) as beside:
                await until(lambda: looks == 2)  # one at the start, one when it began to listen
                queue(memory)
                await asyncio.sleep(0.2)
                assert beside.counts.completed == 0
                db.execute(f"notify {CHANNEL}")
                await until(lambda: beside.counts.completed == 1)

                db.execute(f"select pg_terminate_backend(pid, 5000) from ({self.LISTENING}) as listeners")
                queue(memory)
                db.execute(f"notify {CHANNEL}")
                await until(lambda: beside.counts.completed == 2)

        asyncio.run(scenario())

    def test_polling_goes_on(self, dsn: str, memory: Memory) -> None:
        async def scenario() -> None:
            async with running(dsn, models=finding("x"), listen=True, poll_interval=0.05) as beside:
                await until(lambda: beside._last_claim_at)
                queue(memory)
                await until(lambda: beside.counts.completed == 1)

        asyncio.run(scenario())


class TestHealth:
    def test_the_file_tells_the_state(self, dsn: str, memory: Memory, tmp_path: Path) -> None:
        path = tmp_path / "health.json"
        queue(memory, threads=2)
        states: list[dict[str, Any]] = []

        async def run(payload: dict[str, Any]) -> dict[str, Any]:
            await until(lambda: json.loads(path.read_text())["in_flight"] == 2)
            if payload["thread_id"] == "t0":
                raise ModelError("the model answered nonsense")
            return {"memories": []}

        async def scenario() -> None:
            async with running(dsn, name="me", models=Scripted(run), poll_interval=0.05, health_file=path) as beside:
                await until(lambda: beside.counts.settled == 2)
                states.append(json.loads(path.read_text()))
                await until(lambda: json.loads(path.read_text())["time"] > states[0]["time"])

        asyncio.run(scenario())
        [state] = states
        now = datetime.now(timezone.utc)
        for name in ("time", "last_claim_at"):
            assert now - timedelta(seconds=20) < datetime.fromisoformat(state.pop(name)) <= now
        assert state.pop("in_flight") < 2
        assert "failed (now pending): the model answered nonsense" in state.pop("last_error")
        assert state == {
            "worker": "me",
            "pid": os.getpid(),
            "version": version("pg-agent-memory"),
            "state": "polling",
            "counts": {"completed": 1, "failed": 1, "released": 0, "lost": 0},
        }
        assert json.loads(path.read_text())["state"] == "stopping"
        assert list(tmp_path.iterdir()) == [path]

    def test_without_a_database_it_is_alive(self, dsn: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        async def out_of_reach(*_: Any, **__: Any) -> None:
            raise psycopg.OperationalError("no route to the host")

        async def scenario() -> None:
            path = tmp_path / "health.json"
            async with running(dsn, poll_interval=0.05, health_file=path) as beside:
                await until(lambda: beside._last_claim_at)
                monkeypatch.setattr(AsyncMemory, "claim_jobs", out_of_reach)
                await until(lambda: json.loads(path.read_text())["last_error"])
                assert "no route to the host" in path.read_text()
                assert check_health(path, max_age=20).startswith(f"{beside.name} was polling 0 s ago")

        asyncio.run(scenario())

    def test_a_place_that_cannot_be_written_is_reported_at_the_start(self, dsn: str, tmp_path: Path) -> None:
        with pytest.raises(FileNotFoundError):
            run_once(dsn, health_file=tmp_path / "missing" / "health.json")

    @pytest.mark.parametrize("content", ["", "[]", "{}", '{"time": "noon"}', '{"time": "2025-01-01", "worker": "me"}'])
    def test_anything_else_is_no_health_file(self, tmp_path: Path, content: str) -> None:
        path = tmp_path / "health.json"
        path.write_text(content)
        with pytest.raises(NotAliveError, match="is not the health file"):
            check_health(path, max_age=60)


class TestStart:
    def test_without_a_server(self) -> None:
        with pytest.raises(psycopg.OperationalError):
            run_once("host=/nonexistent")

    def test_without_agent_memory(self, empty_dsn: str) -> None:
        with pytest.raises(NotInstalledError):
            run_once(empty_dsn)


class TestOutput:
    def test_a_line_now_and_then_instead_of_one_per_job(
        self, dsn: str, memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        queue(memory, threads=40)
        caplog.set_level(logging.INFO, logger="agent_memory")
        assert run_once(dsn) == WorkerCounts(completed=40)
        assert [message.partition(" ")[0] for message in caplog.messages] == ["worker", "worker"]

        monkeypatch.setattr(outcomes, "SUMMARY_INTERVAL", 0.0)
        queue(memory, threads=40)
        caplog.clear()
        assert run_once(dsn, concurrency=5) == WorkerCounts(completed=40)
        _, *lines, _ = caplog.messages
        done = [int(line.partition(" ")[0]) for line in lines]
        assert all(re.fullmatch(r"\d+ jobs? completed, 0 failed, 0 released, \d in flight", line) for line in lines)
        assert len(done) > 1
        assert done == sorted(set(done))

    def test_verbose(self, dsn: str, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        queue(memory, threads=3)
        caplog.set_level(logging.DEBUG, logger="agent_memory")
        run_once(dsn)
        assert len([message for message in caplog.messages if message.endswith(", attempt 1) completed")]) == 3

    def test_the_same_failure_is_said_once(self, dsn: str, memory: Memory, caplog: pytest.LogCaptureFixture) -> None:
        queue(memory, threads=5)
        caplog.set_level(logging.INFO, logger="agent_memory")
        run_once(dsn, models=raising(ModelError("no reply")))
        assert [record.levelname for record in caplog.records] == ["INFO", "WARNING", "INFO"]
        assert caplog.messages[1].endswith("failed (now pending): no reply")

    def test_what_is_left(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        jobs = queue(memory, threads=3)
        db.execute("update memory.jobs set max_attempts = 1 where job_id = %s", [jobs[0]])
        failing = Worker(dsn, models=raising(ModelError("no\nreply")), concurrency=1)
        asyncio.run(failing.run(once=True))
        counts, waiting, dead, error = failing.report()
        assert counts == "0 jobs completed, 3 failed, 0 released."
        [(first,)] = db.execute("select min(run_after) from memory.jobs where status = 'pending'").fetchall()
        assert waiting == f"2 jobs wait, the first until {first.astimezone():%Y-%m-%d %H:%M:%S}."
        assert dead == "1 job is dead: see memory.dead_jobs and memory.retry_job()."
        assert error == f"Last error: job {jobs[2]} (extract_memories) failed (now pending): no reply"

        db.execute("update memory.jobs set run_after = now() + interval '1 hour' where status = 'pending'")
        later = Worker(dsn)
        asyncio.run(later.run(once=True))
        counts, waiting, _ = later.report()
        assert (counts, waiting[:28]) == ("0 jobs completed, 0 failed, 0 released.", "2 jobs wait, the first until")

        db.execute("update memory.jobs set run_after = now() where status = 'pending'")
        other_kind = Worker(dsn, kinds=["embed"])
        asyncio.run(other_kind.run(once=True))
        assert other_kind.report() == ["0 jobs completed, 0 failed, 0 released."]
        stopped = Worker(dsn, kinds=["extract_memories", "embed"])
        stopped.stop()
        asyncio.run(stopped.run())
        assert stopped.report()[1] == "2 jobs wait."

    def test_how_many_there_are(self, dsn: str, memory: Memory) -> None:
        queue(memory, threads=30)
        steps: list[tuple[int, int | None]] = []
        run_once(dsn, on_settled=lambda counts, total: steps.append((counts.settled, total)))
        assert steps == [(number, 30) for number in range(1, 31)]

    def test_a_role_that_may_not_look(
        self, dsn: str, db: psycopg.Connection, memory: Memory, caplog: pytest.LogCaptureFixture
    ) -> None:
        queue(memory, threads=2)
        functions = ("claim_jobs", "complete_job", "fail_job", "release_job", "extend_job", "record_calls", "version")
        db.execute("create role blind login; grant usage on schema memory to blind")
        db.execute(f"grant execute on function {', '.join(f'memory.{name}' for name in functions)} to blind")
        totals: list[int | None] = []
        try:
            blind = Worker(
                make_conninfo(dsn, user="blind"),
                models=raising(ModelError("no reply")),
                on_settled=lambda _, total: totals.append(total),
            )
            asyncio.run(blind.run(once=True))
        finally:
            db.execute("drop owned by blind; drop role blind")
        assert totals == [None, None]
        counts, error = blind.report()
        assert (counts, error[:11]) == ("0 jobs completed, 2 failed, 0 released.", "Last error:")
        assert "queue" not in caplog.text


class TestProcess:
    """The command, with a model server that accepts connections and never answers."""

    @pytest.fixture
    def silent_model(self, memory: Memory) -> Iterator[None]:
        with socket.create_server(("127.0.0.1", 0)) as server:
            url = f"http://127.0.0.1:{server.getsockname()[1]}/v1"
            memory.register_model("silent", "chat", "openai", "some-model", {"base_url": url})
            memory.activate_model("silent")
            yield

    @pytest.fixture
    def start(self, dsn: str) -> Iterator[Callable[..., subprocess.Popen[str]]]:
        processes: list[subprocess.Popen[str]] = []

        def start_worker(*options: str) -> subprocess.Popen[str]:
            process = subprocess.Popen(
                [sys.executable, "-m", "agent_memory.cli", "worker", "--dsn", dsn, *options],
                env={**os.environ, "OPENAI_API_KEY": "not-a-key"},
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
            )
            processes.append(process)
            return process

        yield start_worker
        for process in processes:
            process.kill()
            process.communicate()

    def wait_until_running(self, db: psycopg.Connection) -> None:
        deadline = time.monotonic() + 30
        while db.execute("select from memory.jobs where status = 'running'").fetchone() is None:
            assert time.monotonic() < deadline, "the worker claimed nothing"
            time.sleep(0.05)

    @pytest.mark.usefixtures("silent_model")
    @pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
    def test_a_signal_releases_what_is_unfinished(
        self,
        db: psycopg.Connection,
        memory: Memory,
        start: Callable[..., subprocess.Popen[str]],
        number: signal.Signals,
    ) -> None:
        [job_id] = queue(memory)
        process = start()
        self.wait_until_running(db)
        process.send_signal(number)
        output, _ = process.communicate(timeout=30)
        assert process.returncode == 0, output
        assert "stopping: waiting up to 0.5 s for 1 call\n" in output
        assert "attempt 1) released: the worker is stopping\n" in output
        assert "stopped: 0 jobs completed, 0 failed, 1 released\n" in output
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("pending", 0)
        assert [error for _, _, error in ledger(db)] == ["cancelled"]

    @pytest.mark.feature("D9", "F6")
    @pytest.mark.usefixtures("silent_model")
    def test_a_killed_worker_leaves_its_job_to_the_next(
        self, dsn: str, db: psycopg.Connection, memory: Memory, start: Callable[..., subprocess.Popen[str]]
    ) -> None:
        [job_id] = queue(memory)
        process = start("--lease", "2")
        self.wait_until_running(db)
        process.kill()
        process.wait(timeout=30)
        memory.activate_model("local")
        assert run_once(dsn) == WorkerCounts(), "the lease protects the job"
        time.sleep(2)
        assert run_once(dsn) == WorkerCounts(completed=1)
        assert contents(memory) == ["My name is Ana, take 0."]
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts) == ("completed", 2)
