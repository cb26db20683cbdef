"""Conversations replayed: before each answer the context is made, as an application would send it."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import psycopg
from agent_memory import Memory
from agent_memory.worker import Worker
from psycopg.types.json import Jsonb

from bench.quality import samples, work
from bench.quality.embedding_server import Embeddings, literal
from bench.quality.evidence import Sample
from bench.quality.stored import Database

CACHED_PRICE = 0.1  # what providers bill for a token that their cache of prompts has, of the price of any other
PROMPT = "You are the assistant of this person. Answer in at most three sentences, and say so if you do not know. " * 6
LONG_TURNS = 79


@dataclass(frozen=True)
class Thread:
    """A thread to replay, with messages as ``add_messages`` takes them."""

    user_id: str
    thread_id: str
    messages: Sequence[dict[str, Any]]


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
    return [
        Thread(thread["user_id"], thread["thread_id"], thread["messages"])
        for sample in conversations
        for thread in samples.threads(sample)
    ]


def at_work() -> list[Thread]:
    """People at work who ask an assistant; see bench/quality/work."""
    return [
        Thread(thread["user_id"], thread["thread_id"], thread["messages"])
        for user in work.users()
        for thread in work.threads(user)
    ]


def one_thread(threads: Sequence[Thread]) -> list[Thread]:
    """The threads of the first user as one, up to so many turns."""
    messages: list[dict[str, Any]] = []
    for thread in threads:
        messages += [message for message in thread.messages if thread.user_id == threads[0].user_id]
    turns = [place for place, message in enumerate(messages) if message["role"] == "user"]
    return [Thread(threads[0].user_id, "long", messages[: turns[:LONG_TURNS][-1] + 2])]


def replay(
    target: Database, threads: Sequence[Thread], embeddings: Embeddings, count: Callable[[str], list[int]], prompt: str
) -> list[Turn]:
    """Replays threads, with the built-in extraction and all embeddings after each of them.

    Args:
        target: a new database.
        threads: what is replayed, in this order.
        embeddings: the embeddings of questions.
        count: the tokens of a text.
        prompt: what the application's own system message says, which begins each thread; empty for none.
    """
    memory = Memory(target.connection)
    turns: list[Turn] = []
    before: dict[str, list[int]] = {}
    for thread in threads:
        if prompt:
            memory.add_message(thread.user_id, thread.thread_id, "system", prompt)
        for place, message in enumerate(thread.messages):
            memory.add_messages(thread.user_id, thread.thread_id, [message])
            following = thread.messages[place + 1 : place + 2]
            if message["role"] == "user" and following and following[0]["role"] == "assistant":
                [vector] = embeddings.of([message["content"]])
                turn, sent = _ask(target.connection, thread, literal(vector), count, before.get(thread.user_id, []))
                turns.append(turn)
                before[thread.user_id] = sent
        asyncio.run(Worker(target.conninfo, concurrency=2).run(once=True))
    return turns


def _ask(
    connection: psycopg.Connection,
    thread: Thread,
    vector: str,
    count: Callable[[str], list[int]],
    before: Sequence[int],
) -> tuple[Turn, list[int]]:
    started = time.perf_counter()
    parts = connection.execute(
        "select role, source, content from memory.get_context(user_id => %s, thread_id => %s, "
        "query_embedding => %s::vector)",
        (thread.user_id, thread.thread_id, vector),
    ).fetchall()
    seconds = time.perf_counter() - started
    sent: list[int] = []
    by_source: dict[str, int] = {}
    for role, source, content in parts:
        tokens = count(f"<{role}>\n{content}\n")
        sent += tokens
        by_source[source] = by_source.get(source, 0) + len(tokens)
    shared = next((place for place, (a, b) in enumerate(zip(sent, before, strict=False)) if a != b),
                  min(len(sent), len(before)))  # fmt: skip
    return Turn(len(sent), shared, by_source, seconds), sent


def summarize(turns: Sequence[Turn]) -> dict[str, Any]:
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


def set_policy(target: Database, settings: Mapping[str, Any]) -> None:
    """Messages never expire, because the conversations were held years ago."""
    target.connection.execute(
        "select memory.set_policy(%s)", [Jsonb({"messages": {"expires_after": "never"}, **settings})]
    )


def lines(figures: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    """The figures as a table."""
    yield "| per turn of the user | turns | tokens | shared with the turn before | price | recall silent | ms |"
    yield "|---|---|---|---|---|---|---|"
    for name, each in figures.items():
        yield (
            f"| {name} | {each['turns']} | {each['tokens']:,} | {each['shared']:.1%} | {each['price']:,} "
            f"| {each['without_recall']:.1%} | {each['milliseconds']} |"
        )
