"""The queues of jobs that are compared: each claims jobs, does nothing with them, and completes them.

Imports stand inside of the classes: each runs in an environment that has no other.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from datetime import timedelta
from typing import Any

BATCH = 10
LEASE = timedelta(minutes=5)
_LOAD = """
select count(*)
from generate_series(1, 400) as u, generate_series(1, 15) as t,
  lateral (select count(*) from memory.add_messages('user ' || u, 'thread ' || t, (
    select jsonb_agg(jsonb_build_object('role', 'user', 'content', format('I prefer train %s of %s to %s.', n, u, t)))
    from generate_series(1, 10) as n))) as x
"""


class AgentMemoryJobs:
    """This project: jobs that extract memories of ten messages each, which a claim returns; the result is empty."""

    def __init__(self, dsn: str) -> None:
        from agent_memory import Memory
        from agent_memory.calls import WorkerProtocol

        self._dsn = dsn
        self._jobs = WorkerProtocol(Memory(dsn).caller)

    def prepare(self) -> None:
        """Everything is installed."""

    def fill(self) -> None:
        import psycopg

        with psycopg.connect(self._dsn, autocommit=True) as connection:
            connection.execute(_LOAD)
            connection.execute("vacuum analyze")

    def work(self, seconds: float) -> int:
        done, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            for job in self._jobs.claim_jobs("peers", kinds=["extract_memories"], max_jobs=BATCH, lease=LEASE):
                self._jobs.complete_job(job.user_id, job.job_id, job.lease_token, {"memories": []})
                done += 1
        return done


class Procrastinate:
    """procrastinate, which claims one job at a time."""

    def __init__(self, dsn: str) -> None:
        from procrastinate import App, PsycopgConnector
        from procrastinate.jobs import Status

        self._loop = asyncio.new_event_loop()
        self._app = App(connector=PsycopgConnector(conninfo=dsn, min_size=1, max_size=1))
        self._done = Status.SUCCEEDED
        self._worker: Any = None
        self._loop.run_until_complete(self._app.open_async())

    def prepare(self) -> None:
        self._loop.run_until_complete(self._app.schema_manager.apply_schema_async())

    def fill(self) -> None:
        self._loop.run_until_complete(self._fill())

    async def _fill(self) -> None:
        for _ in range(20):
            task = self._app.configure_task("nothing", allow_unknown=True)
            await task.batch_defer_async(*({"number": number} for number in range(1000)))

    def work(self, seconds: float) -> int:
        return self._loop.run_until_complete(self._work(seconds))

    async def _work(self, seconds: float) -> int:
        jobs = self._app.job_manager
        self._worker = self._worker or await jobs.register_worker()
        done, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            job = await jobs.fetch_job(None, self._worker)
            assert job is not None
            await jobs.finish_job(job, self._done, delete_job=False)
            done += 1
        return done


class PgQueuer:
    """pgqueuer, which claims ten jobs and completes them in one statement."""

    completed_at_once = BATCH

    def __init__(self, dsn: str) -> None:
        import asyncpg
        from pgqueuer.db import AsyncpgDriver
        from pgqueuer.queries import EntrypointExecutionParameter, Queries

        server = dict(part.split("=", 1) for part in dsn.split())
        self._loop = asyncio.new_event_loop()
        connection = self._loop.run_until_complete(
            asyncpg.connect(
                host=server["host"], port=int(server["port"]), user=server["user"], database=server["dbname"]
            )
        )
        self._queries = Queries(AsyncpgDriver(connection))
        self._kinds = {"nothing": EntrypointExecutionParameter(0)}
        self._worker = uuid.uuid4()

    def prepare(self) -> None:
        self._loop.run_until_complete(self._queries.install())

    def fill(self) -> None:
        self._loop.run_until_complete(self._fill())

    async def _fill(self) -> None:
        for _ in range(100):
            await self._queries.enqueue(["nothing"] * 1000, [b"x"] * 1000, [0] * 1000)

    def work(self, seconds: float) -> int:
        return self._loop.run_until_complete(self._work(seconds))

    async def _work(self, seconds: float) -> int:
        done, until = 0, time.perf_counter() + seconds
        while time.perf_counter() < until:
            jobs = await self._queries.dequeue(BATCH, self._kinds, self._worker, None, LEASE)
            for start in range(0, len(jobs), self.completed_at_once):
                part = jobs[start : start + self.completed_at_once]
                await self._queries.log_jobs([(job, "successful", None) for job in part])
            done += len(jobs)
        return done


class PgQueuerOneByOne(PgQueuer):
    """pgqueuer, where each job is completed when it ends, as workers with long jobs do."""

    completed_at_once = 1


Queue = AgentMemoryJobs | Procrastinate | PgQueuer
