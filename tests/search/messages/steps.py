"""What the tests of search among very many messages do again and again: store, embed and search."""

from __future__ import annotations

import random
from typing import Any

from tests.support.embeddings import embed_texts
from tests.support.search_world import embed
from tests.support.sqlapi import Api

ABOVE = 300
"""Users with more messages than this are searched by choosing among their messages."""
DIMENSIONS = 64
WORDS = ["tea", "boat", "lamp", "fern", "moss", "kite", "drum", "salt"]
TARGET = [1.0] * DIMENSIONS
"""A direction that no made-up embedding comes near."""


def fill(api: Api, user_id: str, threads: int, messages: int) -> None:
    """Messages of common words, parsed, with embeddings that agree with TARGET in about half of their signs."""
    chance = random.Random(user_id)
    for thread in range(threads):
        said = [
            {
                "role": ("user", "assistant")[number % 2],
                "content": " ".join(chance.choices(WORDS, k=chance.randrange(3, 9))) + f" n{chance.randrange(10**6)}",
                "metadata": {"parity": number % 2, "topic": f"topic {number % 100}", "nested": {"a": number % 2}},
                "created_at": f"2026-{thread + 1:02}-01 00:{number // 60:02}:{number % 60:02}+00",
            }
            for number in range(messages)
        ]
        for start in range(0, messages, 100):
            for agent_id, first, last in (("usual", 0, 50), ("rare", 50, 51), ("usual", 51, 100)):
                part = said[start + first : start + last]
                api.add_messages(user_id=user_id, thread_id=f"t{thread}", messages=part, agent_id=agent_id)
    parse(api)
    embed_texts(
        api,
        """
        select 'message', m.thread_id || '/' || m.seq, (
          select array_agg(case when get_bit(sha512((m.thread_id || '/' || m.seq)::bytea), n) = 1 then 1 else -1 end)
          from generate_series(0, 63) as n)::vector
        from memory.messages as m where m.user_id = %(user_id)s
        """,
        "many",
        user_id=user_id,
    )


def parse(api: Api) -> None:
    while api.sweep()["checked"]:
        pass


def say(api: Api, content: str, thread_id: str = "t0", near: bool = False, **arguments: Any) -> str:
    """Add a message; with an embedding next to TARGET if it is near. Returns its id."""
    message = {"user_id": "ana", "role": "user", "agent_id": "usual", **arguments}
    seq = api.add_message(**message, thread_id=thread_id, content=content).seq
    if near:
        draw_near(api, f"{thread_id}/{seq}", message["user_id"])
    return f"{thread_id}/{seq}"


def rewrite(api: Api, message: str, content: str) -> None:
    """Change the text of a message of ana."""
    thread_id, _, seq = message.rpartition("/")
    api.query(
        "update memory.messages set content = %(content)s "
        "where user_id = 'ana' and thread_id = %(thread_id)s and seq = %(seq)s returning 1",
        content=content, thread_id=thread_id, seq=int(seq),
    )  # fmt: skip


def draw_near(api: Api, message: str, user_id: str = "ana") -> None:
    """Give a message an embedding next to TARGET."""
    api.query(
        "update memory.texts set model = null, embedding = null, code = null "
        "where user_id = %(u)s and id = %(id)s returning 1",
        u=user_id, id=message,
    )  # fmt: skip
    embed(api, message, [*TARGET[1:], 0.5], source="message", user_id=user_id, model="many")


def search(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[Any]:
    target = None if vector is None else str(vector)
    asked = {"user_id": "ana", "query": query, "query_embedding": target, "sources": ["message"]}
    found: list[Any] = api.search(**{**asked, **arguments})
    return found


def ids(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[str]:
    return [result.id for result in search(api, query, vector, **arguments)]
