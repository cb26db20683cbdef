"""What a worker writes to its log and to a terminal."""

import asyncio
import logging
import re

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.worker import Worker, WorkerCounts, outcomes
from agent_memory.worker import queue as queue_look
from agent_memory_models import ModelError
from psycopg.conninfo import make_conninfo

from tests.worker.steps import HOUR, queue, raising, run_once


@pytest.fixture(autouse=True)
def _look_takes_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """On a busy machine a look into the queue may take longer than the second after which a worker does without it."""
    monkeypatch.setattr(queue_look, "LOOK_TIMEOUT", 60_000)


class TestOutput:
    def test_a_line_now_and_then_instead_of_one_per_job(
        self, dsn: str, memory: Memory, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(outcomes, "SUMMARY_INTERVAL", HOUR)
        queue(memory, threads=15)
        caplog.set_level(logging.INFO, logger="agent_memory")
        assert run_once(dsn) == WorkerCounts(completed=15)
        assert [message.partition(" ")[0] for message in caplog.messages] == ["worker", "worker"]

        monkeypatch.setattr(outcomes, "SUMMARY_INTERVAL", 0.0)
        queue(memory, threads=15)
        caplog.clear()
        assert run_once(dsn, concurrency=5) == WorkerCounts(completed=15)
        _, *lines, _ = caplog.messages
        done = [int(line.partition(" ")[0]) for line in lines]
        assert all(re.fullmatch(r"\d+ jobs? completed, 0 failed, 0 released, \d in flight", line) for line in lines)
        assert len(done) > 1
        assert done == sorted(set(done))

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

    def test_no_more_are_done_than_there_are_in_all(self, dsn: str, memory: Memory) -> None:
        memory.add_memory("ana", "Likes tea")
        queue(memory, threads=3)
        memory.admin.set_policy({"cadence": {"reconcile_every_n": 1}})  # so that jobs queue further ones
        steps: list[tuple[int, int]] = []
        run_once(dsn, on_settled=lambda counts, total: steps.append((counts.settled, total or 0)))
        assert len(steps) > 3
        assert all(settled <= total for settled, total in steps)

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
