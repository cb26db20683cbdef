"""The conversations in a database: imported, embedded, and asked over several connections at a time."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from queue import SimpleQueue
from typing import TypeVar

import psycopg
from agent_memory import Memory
from agent_memory.importer import import_file
from agent_memory.worker import Worker
from psycopg import sql

from bench.quality.evidence import Sample, sessions
from bench.support.environment import new_database, say, value
from tests.support.servers import Server

CONNECTIONS = 2
PATIENCE_SECONDS = 120
# The conversations were held years ago. Everything else is as a new installation has it.
POLICY = {"messages": {"expires_after": "never"}}

Turn = tuple[str, str]
"""A user and the name of one of the turns of that user's conversation."""
Item = TypeVar("Item")
Found = TypeVar("Found")


@dataclass(frozen=True)
class Database:
    """A database with agent_memory, and connections to it."""

    conninfo: str
    connections: Sequence[psycopg.Connection]
    notices: Counter[str] = field(default_factory=Counter)

    @property
    def connection(self) -> psycopg.Connection:
        """The first connection."""
        return self.connections[0]

    def ask(self, ask: Callable[[psycopg.Connection, Item], Found], items: Sequence[Item]) -> list[Found]:
        """The answers to all items, in their order, each asked over the connection that is free next."""
        free: SimpleQueue[psycopg.Connection] = SimpleQueue()
        for connection in self.connections:
            free.put(connection)

        def answer(item: Item) -> Found:
            connection = free.get()
            try:
                return ask(connection, item)
            finally:
                free.put(connection)

        with ThreadPoolExecutor(len(self.connections)) as pool:
            return list(pool.map(answer, items))


@dataclass(frozen=True)
class Stored:
    """Where the turns of a user are: which message, as search calls it, holds a turn, and the tokens of messages."""

    message: Mapping[Turn, str]
    tokens: Mapping[tuple[str, str], int]
    texts: Mapping[Turn, str]


@dataclass(frozen=True)
class EmbeddingModel:
    """The model that databases embed with, on an OpenAI-compatible server."""

    url: str
    name: str
    dimensions: int

    def register(self, memory: Memory) -> None:
        """Makes a database use the model."""
        settings = {"base_url": self.url, "dimensions": self.dimensions, "timeout_seconds": 600}
        memory.admin.register_model("embedding", "embedding", "openai", self.name, settings)
        memory.admin.activate_model("embedding")


@contextlib.contextmanager
def database(server: Server, name: str) -> Iterator[Database]:
    """A new database, in which notices are counted; dropped at the end."""
    with contextlib.ExitStack() as stack:
        first = stack.enter_context(new_database(server, name))
        drop = sql.SQL("drop database {} with (force)").format(sql.Identifier(name))
        stack.callback(stack.enter_context(psycopg.connect(server.conninfo(), autocommit=True)).execute, drop)
        conninfo = server.conninfo(name)
        others = [stack.enter_context(psycopg.connect(conninfo, autocommit=True)) for _ in range(CONNECTIONS - 1)]
        made = Database(conninfo, [first, *others])
        for connection in made.connections:
            connection.add_notice_handler(lambda notice: made.notices.update([notice.message_primary or ""]))
        yield made


def load(target: Database, path: Path, embedding: EmbeddingModel, texts: Mapping[Turn, str]) -> Stored:
    """Imports a file and embeds its messages. Raises RuntimeError when embeddings do not come."""
    started = time.monotonic()
    memory = Memory(target.connection)
    memory.admin.set_policy(POLICY)
    embedding.register(memory)
    for _ in import_file(target.connection, path):
        pass
    embed(target)
    while memory.admin.sweep()["checked"]:  # extraction would have parsed them
        pass
    found = stored(target.connection, texts)
    say(f"  {len(found.tokens):,} messages in {time.monotonic() - started:.0f} s")
    return found


def said(samples: Sequence[Sample]) -> dict[Turn, str]:
    """What was said in each turn."""
    return {
        (sample["sample_id"], turn.dia_id): turn.text
        for sample in samples
        for _, turns in sessions(sample)
        for turn in turns
    }


def stored(connection: psycopg.Connection, texts: Mapping[Turn, str]) -> Stored:
    """Where the turns are, once everything is stored."""
    connection.execute("vacuum analyze")
    rows = connection.execute(
        """
        select m.user_id, m.thread_id || '/' || m.seq, m.token_count,
          coalesce(m.metadata -> 'dia_ids', jsonb_build_array(m.metadata -> 'dia_id'))
        from memory.messages as m
        """
    ).fetchall()
    return Stored(
        message={(user, turn): message for user, message, _, turns in rows for turn in turns},
        tokens={(user, message): tokens for user, message, tokens, _ in rows},
        texts=texts,
    )


def embed(target: Database) -> None:
    """Has all texts embedded. Raises RuntimeError when embeddings do not come."""
    missing, patience = None, 0.0
    while left := value(target.connection, "select sum(total - done) from memory.backfill_status()"):
        if left != missing:
            missing, patience = left, time.monotonic() + PATIENCE_SECONDS
        elif time.monotonic() > patience:
            raise RuntimeError(f"{left} texts are not embedded")
        # The importer queues extraction too, which would only take time.
        asyncio.run(Worker(target.conninfo, kinds=["embed", "backfill"], concurrency=2 * CONNECTIONS).run(once=True))
        time.sleep(0.2)
