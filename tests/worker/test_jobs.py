"""The worker does jobs: outcomes, leases, and the calls it enters into the ledger."""

import asyncio
from datetime import datetime, timedelta
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.calls import AsyncWorkerProtocol
from agent_memory.jobs import persistence
from agent_memory.worker import Worker, WorkerCounts
from agent_memory_models import ModelError, RateLimitedError

from tests.support.runners import PATIENCE
from tests.worker.steps import (
    HOUR,
    Connect,
    Scripted,
    contents,
    finding,
    ledger,
    queue,
    raising,
    run_once,
    running,
    until,
)


def attempts(db: psycopg.Connection) -> list[int]:
    return [row[0] for row in db.execute("select attempts from memory.jobs order by job_id")]


class TestOutcomes:
    @pytest.mark.feature("F6")
    def test_once_works_until_nothing_is_left(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory, threads=25)
        memory.summarize_thread("ana", "t0")
        assert run_once(dsn, kinds=["embed"]) == WorkerCounts()
        assert run_once(dsn) == WorkerCounts(completed=26)
        assert contents(memory) == sorted(f"I love jazz number {number}." for number in range(25))
        assert memory.get_thread_summary("ana", "t0") is not None
        assert run_once(dsn) == WorkerCounts()
        assert set(attempts(db)) == {1}

    def test_calls_run_at_the_same_time_up_to_the_limit(self, dsn: str, memory: Memory) -> None:
        queue(memory, threads=12)
        running, most = 0, 0
        five_run = asyncio.Event()

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            nonlocal running, most
            running += 1
            most = max(most, running)
            if running == 5:
                five_run.set()
            await asyncio.wait_for(five_run.wait(), PATIENCE)
            await asyncio.sleep(0.1)  # time for calls beyond the limit
            running -= 1
            return {"memories": []}

        assert run_once(dsn, models=Scripted(run), concurrency=5) == WorkerCounts(completed=12)
        assert most == 5

    @pytest.mark.feature("F20")
    def test_once_does_not_end_while_its_own_jobs_keep_others_of_their_user_back(
        self, dsn: str, memory: Memory
    ) -> None:
        memory.admin.set_policy({"jobs": {"max_running_per_user": 2}})
        queue(memory, threads=7)
        assert run_once(dsn, models=finding("tea", seconds=0.02), poll_interval=60.0) == WorkerCounts(completed=7)

    def test_once_does_not_end_when_its_last_job_ends_during_a_claim(self, dsn: str, memory: Memory) -> None:
        memory.admin.set_policy({"jobs": {"max_running_per_user": 1}})
        queue(memory, threads=30)
        # Nearly all the time a claim is under way that finds nothing, because another job of the user runs.
        assert run_once(dsn, models=finding("tea", seconds=0.01), poll_interval=0.0001) == WorkerCounts(completed=30)

    @pytest.mark.parametrize(
        ("error", "reason"),
        [
            (ModelError("the model answered nonsense\0"), "the model answered nonsense"),
            (ZeroDivisionError("what a user said"), "ZeroDivisionError at tests.worker.steps"),
        ],
    )
    @pytest.mark.feature("F7")
    def test_a_failure_is_reported(
        self, dsn: str, db: psycopg.Connection, memory: Memory, error: Exception, reason: str
    ) -> None:
        [job_id] = queue(memory)
        assert run_once(dsn, models=raising(error)) == WorkerCounts(failed=1)
        job = memory.get_job("ana", job_id)
        assert (job.status, job.attempts, (job.error or "").partition(":")[0]) == ("pending", 1, reason)
        assert ledger(db) == [(70, 3, type(error).__name__)]

    @pytest.mark.parametrize(
        "result",
        [{"memories": [{"content": "x", "memory_type": "unknown", "seqs": [0]}]}, {"a": "\0"}],
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
        assert ledger(db) == [(70, 3, "RateLimitedError")]


class TestLeases:
    @pytest.mark.usefixtures("quick_heartbeat")
    def test_the_heartbeat_keeps_a_long_call(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        queue(memory)
        ends: list[datetime] = []

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            """Begins with a lease that is nearly over, and goes on until a heartbeat has extended the lease twice."""
            [[given]] = db.execute(
                "update memory.jobs set lease_expires_at = lease_expires_at - interval '4 minutes'"
                " returning lease_expires_at"
            ).fetchall()
            ends.append(given)

            def extended() -> bool:
                [[end]] = db.execute("select lease_expires_at from memory.jobs").fetchall()
                if end > ends[-1]:
                    ends.append(end)
                return len(ends) == 3

            async with running(dsn, models=finding("other"), poll_interval=0.05) as other:
                await until(extended)
                await until(lambda: other._last_claim_at)
            assert other.counts == WorkerCounts()
            return {"memories": [{"content": "slow", "memory_type": "fact", "seqs": [0]}]}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(completed=1)
        assert ends[1] - ends[0] > timedelta(minutes=3)
        assert contents(memory) == ["slow"]
        assert attempts(db) == [1]

    def test_two_workers_do_each_job_once(self, dsn: str, db: psycopg.Connection, memory: Memory) -> None:
        # One job for each of 60 users: jobs of one user are claimed by one worker at a time, and the other worker may
        # take the queue for empty.
        for number in range(60):
            memory.add_message(f"user{number}", "t", "user", "My name is Ana.")
            memory.extract_memories(f"user{number}", "t")

        async def scenario() -> list[WorkerCounts]:
            first_calls = [asyncio.Event(), asyncio.Event()]

            def models(worker: int) -> Scripted:
                async def run(_: dict[str, Any]) -> dict[str, Any]:
                    first_calls[worker].set()
                    await asyncio.wait_for(first_calls[1 - worker].wait(), PATIENCE)
                    return {"memories": []}

                return Scripted(run)

            workers = [Worker(dsn, models=models(number), concurrency=5) for number in range(2)]
            return await asyncio.gather(*(worker.run(once=True) for worker in workers))

        first, second = asyncio.run(scenario())
        assert first.completed + second.completed == 60
        assert min(first.completed, second.completed) > 0
        assert attempts(db) == [1] * 60

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
    @pytest.mark.usefixtures("quick_heartbeat")
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
            return {"memories": [{"content": "too late", "memory_type": "fact", "seqs": [0]}]}

        assert run_once(dsn, models=Scripted(run)) == WorkerCounts(lost=1)
        assert contents(memory) == []
        assert ledger(db) == [(70, 3, error)]

    def test_a_result_whose_acceptance_was_not_heard_is_entered_once(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        queue(memory)
        complete_job = AsyncWorkerProtocol.complete_job

        async def cut_off(self: AsyncWorkerProtocol, *arguments: Any) -> None:
            await complete_job(self, *arguments)
            raise psycopg.OperationalError("the connection is lost")

        monkeypatch.setattr(persistence, "FIRST_BACKOFF", 0.01)
        monkeypatch.setattr(AsyncWorkerProtocol, "complete_job", cut_off)
        assert run_once(dsn, models=finding("x")) == WorkerCounts(lost=1)
        assert contents(memory) == ["x"]
        assert ledger(db) == [(70, 3, None)]
