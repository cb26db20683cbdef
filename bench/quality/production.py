"""A database as production makes it: people talk, while a worker embeds, extracts, summarizes and compresses."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from itertools import groupby, zip_longest
from typing import Any

import psycopg
from agent_memory import AsyncMemory, Memory
from agent_memory.worker import Worker
from agent_memory_models import Models
from psycopg.rows import dict_row

from bench.quality.stored import POLICY, Database, EmbeddingModel
from bench.support.environment import say

CHAT_MODEL = "gpt-4.1-mini"
MESSAGES_AT_A_TIME = 10  # then jobs run: as often as the default policy extracts memories
CONCURRENCY = 4
PATIENCE_SECONDS = 300
REFUSED = 0.01
"""The share of jobs that may fail: rules take one of 1,500 made-up summaries for an attack."""

Message = dict[str, Any]


def load(source: Database, target: Database, embedding: EmbeddingModel) -> dict[str, int]:
    """Says again in ``target`` what ``source`` holds, with all jobs of the default policy; returns counts of what came.

    The server of the embeddings also serves chat completions.

    Raises RuntimeError when jobs fail or do not come to an end.
    """
    started = time.monotonic()
    memory = Memory(target.connection)
    memory.admin.set_policy(POLICY)
    embedding.register(memory)
    memory.admin.register_model("chat", "chat", "openai", CHAT_MODEL, {"base_url": embedding.url})
    memory.admin.activate_model("chat")
    asyncio.run(_live(target, _conversations(source.connection)))
    while memory.admin.sweep()["checked"]:
        pass
    target.connection.execute("vacuum analyze")
    counts = _counts(target.connection)
    made = ", ".join(f"{count:,} {name.replace('_', ' ')}" for name, count in counts.items())
    say(f"  {made} in {time.monotonic() - started:.0f} s")
    return counts


def _conversations(connection: psycopg.Connection) -> list[list[list[Message]]]:
    """The threads of each user, in the order in which they were held."""
    with connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(
            """
            select m.user_id, m.thread_id, m.role, m.content, m.metadata, m.created_at
            from memory.messages as m join memory.threads as t using (user_id, thread_id)
            order by m.user_id, t.first_at, t.thread_id, m.seq
            """
        ).fetchall()
    return [
        [list(thread) for _, thread in groupby(messages, key=lambda row: row["thread_id"])]
        for _, messages in groupby(rows, key=lambda row: row["user_id"])
    ]


async def _live(target: Database, conversations: Sequence[Sequence[Sequence[Message]]]) -> None:
    """Holds the conversations side by side, thread after thread; after each thread an hour passes."""
    async with (
        await psycopg.AsyncConnection.connect(target.conninfo, autocommit=True) as connection,
        Models(may_download=False) as models,
    ):
        worker = Worker(target.conninfo, models=models, concurrency=CONCURRENCY, poll_interval=0.05)
        running = asyncio.create_task(worker.run())
        memory = AsyncMemory(connection)
        for threads in zip_longest(*conversations, fillvalue=()):
            for start in range(0, max(map(len, threads)), MESSAGES_AT_A_TIME):
                for thread in threads:
                    messages = thread[start : start + MESSAGES_AT_A_TIME]
                    if messages:
                        await _say(memory, messages)
                await _work(connection, worker)
            await connection.execute("update memory.threads set last_at = now() - interval '2 hours'")
            await memory.admin.sweep()
            await _work(connection, worker)
        worker.stop()
        await running


async def _say(memory: AsyncMemory, messages: Sequence[Message]) -> None:
    first = messages[0]
    given = [{key: message[key] for key in ("role", "content", "metadata", "created_at")} for message in messages]
    await memory.add_messages(first["user_id"], first["thread_id"], given)


async def _work(connection: psycopg.AsyncConnection, worker: Worker) -> None:
    """Waits until every job has been tried.

    A job that failed is left: its result was refused, and the server would answer the same again.
    """
    patience = time.monotonic() + PATIENCE_SECONDS
    untried = "select from memory.jobs where status = 'running' or status = 'pending' and attempts = 0 limit 1"
    while await (await connection.execute(untried)).fetchone() is not None:
        if worker.counts.lost or time.monotonic() > patience:
            raise RuntimeError(f"jobs do not come to an end: {' '.join(worker.report())}")
        await asyncio.sleep(0.05)
    if worker.counts.failed > REFUSED * worker.counts.completed:
        raise RuntimeError(f"too many jobs failed: {' '.join(worker.report())}")


def _counts(connection: psycopg.Connection) -> dict[str, int]:
    with connection.cursor(row_factory=dict_row) as cursor:
        row = cursor.execute(
            """
            select (select count(*) from memory.messages) as messages,
              (select count(*) from memory.messages where not is_active) as compressed_messages,
              (select count(*) from memory.memories) as memories,
              (select count(*) from memory.summaries) as summaries
            """
        ).fetchone()
    return row or {}
