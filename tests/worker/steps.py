"""What the tests of the worker share: models of the test, queued jobs, and a worker that runs."""

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.worker import Worker, WorkerCounts

from tests.support.runners import PATIENCE

Connect = Callable[..., psycopg.Connection]
HOUR = 3600.0


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
        memory.add_message("ana", f"t{number}", "user", f"I love jazz number {number}.")
        jobs.append(memory.extract_memories("ana", f"t{number}"))
    return jobs


def run_once(dsn: str, **options: Any) -> WorkerCounts:
    return asyncio.run(Worker(dsn, **options).run(once=True))


def contents(memory: Memory) -> list[str]:
    return sorted(record.content for record in memory.list_memories("ana"))


def ledger(db: psycopg.Connection) -> list[tuple[int, int, str | None]]:
    return db.execute("select tokens_in, tokens_out, error from memory.model_calls").fetchall()


async def until(condition: Callable[[], Any]) -> None:
    """Wait for something that a worker in the same event loop does."""
    deadline = time.monotonic() + PATIENCE
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
