"""Conversations replayed: before each answer the context is made, as an application would send it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile, zip_longest
from statistics import fmean
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.worker import Worker

from bench.quality import samples, work
from bench.quality.embedding_server import Embeddings, literal
from bench.quality.evidence import Sample
from bench.quality.stored import POLICY, Database
from bench.support.markdown import table

CACHED_PRICE = 0.1  # what providers bill for a token that their cache of prompts has, of the price of any other
LONG_TURNS = 79


Thread = dict[str, Any]
"""A thread to replay, with messages as ``add_messages`` takes them."""


@dataclass(frozen=True)
class Turn:
    """One request to a model: its tokens, and those at its beginning that the request before it had as well."""

    tokens: int
    shared: int
    by_source: Mapping[str, int]
    seconds: float

    @property
    def price(self) -> float:
        """The tokens, those that are cached at their price."""
        return self.tokens - self.shared * (1 - CACHED_PRICE)


def locomo(conversations: Sequence[Sample]) -> list[Thread]:
    """Each conversation is a user, each session a thread."""
    return [thread for sample in conversations for thread in samples.threads(sample)]


def at_work() -> list[Thread]:
    """People at work who ask an assistant; see bench/quality/work."""
    return [thread for user in work.users() for thread in work.threads(user)]


def one_thread(conversation: Sample) -> list[Thread]:
    """All threads of a conversation as one, up to so many turns."""
    messages = [message for thread in samples.threads(conversation) for message in thread["messages"]]
    turns = [place for place, message in enumerate(messages) if message["role"] == "user"]
    last = turns[:LONG_TURNS][-1]
    return [{"user_id": conversation["sample_id"], "thread_id": "long", "messages": messages[: last + 2]}]


def replay(
    target: Database, threads: Sequence[Thread], embeddings: Embeddings, encode: Callable[[str], Sequence[int]]
) -> dict[str, Any]:
    """Replays threads in a new database, with the built-in extraction and all embeddings after each of them.

    Returns the means over turns; ``encode`` makes tokens of a text.
    """
    memory = Memory(target.connection)
    memory.admin.set_policy(POLICY)
    turns: list[Turn] = []
    before: dict[str, list[int]] = {}
    for thread in threads:
        user, messages = thread["user_id"], thread["messages"]
        for message, following in zip_longest(messages, messages[1:]):
            memory.add_messages(user, thread["thread_id"], [message])
            if message["role"] == "user" and following and following["role"] == "assistant":
                [vector] = embeddings.of([message["content"]])
                turn, before[user] = _ask(target.connection, thread, literal(vector), encode, before.get(user, []))
                turns.append(turn)
        asyncio.run(Worker(target.conninfo, concurrency=2).run(once=True))
    return _summarize(turns)


def _ask(
    connection: psycopg.Connection,
    thread: Thread,
    vector: str,
    encode: Callable[[str], Sequence[int]],
    before: Sequence[int],
) -> tuple[Turn, list[int]]:
    started = time.perf_counter()
    parts = connection.execute(
        "select role, source, content from memory.get_context(user_id => %s, thread_id => %s, "
        "query_embedding => %s::vector)",
        (thread["user_id"], thread["thread_id"], vector),
    ).fetchall()
    seconds = time.perf_counter() - started
    sent: list[int] = []
    by_source: dict[str, int] = {}
    for role, source, content in parts:
        tokens = encode(f"<{role}>\n{content}\n")
        sent += tokens
        by_source[source] = by_source.get(source, 0) + len(tokens)
    shared = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(sent, before, strict=False)))
    return Turn(len(sent), shared, by_source, seconds), sent


def _summarize(turns: Sequence[Turn]) -> dict[str, Any]:
    """The means over turns."""
    sources = sorted({source for turn in turns for source in turn.by_source})
    return {
        "turns": len(turns),
        "tokens": round(fmean(turn.tokens for turn in turns)),
        "shared": round(sum(turn.shared for turn in turns) / sum(turn.tokens for turn in turns), 4),
        "price": round(fmean(turn.price for turn in turns)),
        "by_source": {source: round(fmean(turn.by_source.get(source, 0) for turn in turns)) for source in sources},
        "without_recall": round(fmean("recalled" not in turn.by_source for turn in turns), 4),
        "milliseconds": round(1000 * fmean(turn.seconds for turn in turns), 1),
    }


def replayed_table(figures: Mapping[str, Mapping[str, Any]]) -> str:
    """The figures of each set as a table."""
    header = ["per turn of the user", "turns", "tokens", "shared with the turn before", "price", "recall silent", "ms"]
    rows = [
        [
            name,
            str(each["turns"]),
            f"{each['tokens']:,}",
            f"{each['shared']:.1%}",
            f"{each['price']:,}",
            f"{each['without_recall']:.1%}",
            str(each["milliseconds"]),
        ]
        for name, each in figures.items()
    ]
    return table(header, rows)
