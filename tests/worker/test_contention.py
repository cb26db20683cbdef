"""Several workers at once, and workers that wait for notifications."""

import asyncio
from typing import Any

import psycopg
import pytest
from agent_memory import ClaimedJob, Memory
from agent_memory.calls import AsyncWorkerProtocol
from agent_memory.jobs import persistence
from agent_memory.worker import CHANNEL, WorkerCounts, database, listening

from tests.worker.steps import HOUR, Connect, Scripted, contents, finding, ledger, queue, run_once, running, until


class TestContention:
    @pytest.mark.feature("F6")
    def test_a_hand_in_that_others_disturb_is_repeated(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(persistence, "FIRST_BACKOFF", 0.01)
        queue(memory)
        # What a sequence counts survives the rollback.
        db.execute("create sequence tries")
        db.execute(
            "create function disturb() returns trigger language plpgsql as $$ begin if nextval('public.tries') < 3"
            " then raise 'disturbed' using errcode = '40P01'; end if; return new; end $$"
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


class TestStop:
    @pytest.mark.feature("F6", "F8")
    def test_a_release_that_takes_longer_than_the_grace_is_waited_for(
        self, dsn: str, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        [job_id] = queue(memory)
        release_job = AsyncWorkerProtocol.release_job

        async def slowly(self: AsyncWorkerProtocol, *arguments: Any, **options: Any) -> None:
            await asyncio.sleep(0.2)
            await release_job(self, *arguments, **options)

        async def run(_: dict[str, Any]) -> dict[str, Any]:
            await asyncio.sleep(HOUR)
            raise AssertionError

        monkeypatch.setattr(AsyncWorkerProtocol, "release_job", slowly)
        models = Scripted(run)

        async def scenario() -> None:
            async with running(dsn, models=models, grace=0.05) as beside:
                await until(lambda: models.calls == 1)
            assert beside.counts == WorkerCounts(released=1)

        asyncio.run(scenario())
        assert memory.get_job("ana", job_id).status == "pending"


class TestListening:
    LISTENING = """
        select pid from pg_stat_activity
        where datname = current_database() and query = 'listen agent_memory_jobs' and state = 'idle'
    """

    def test_a_notification_wakes_it(
        self, dsn: str, db: psycopg.Connection, memory: Memory, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        looks = 0
        claim_jobs = AsyncWorkerProtocol.claim_jobs

        async def counted(self: AsyncWorkerProtocol, *arguments: Any, **options: Any) -> list[ClaimedJob]:
            nonlocal looks
            jobs = await claim_jobs(self, *arguments, **options)
            looks += 1
            return jobs

        monkeypatch.setattr(AsyncWorkerProtocol, "claim_jobs", counted)
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
