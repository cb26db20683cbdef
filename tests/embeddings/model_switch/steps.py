"""What the tests of changing models do again and again: register, embed, fill and search."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import psycopg

from tests.support.embeddings import EMBEDDINGS
from tests.support.protocol import complete
from tests.support.sqlapi import Api

Connect = Callable[..., psycopg.Connection]

GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
DIMENSIONS = {"old": 2, "new": 3, "third": 4}
FILLED = f"select model, count(*) as n from {EMBEDDINGS} as e group by 1 order by 1"


def register(api: Api, name: str = "new", **settings: Any) -> None:
    api.register_model(name=name, kind="embedding", provider="openai", model=f"{name}-1", settings=settings)


def vector(model: str, topic: int) -> list[float]:
    """The vector of a topic; no two topics and no two models have the same, and each model has its own dimension.

    The golden angle keeps thousands of topics apart. At one radian each, topics 0 and 710 were one vector in half
    precision, because 710 is nearly 113 full turns.
    """
    angle = GOLDEN_ANGLE * (topic if model == "old" else -2 * topic)
    return [math.cos(angle), math.sin(angle), *[0.0] * (DIMENSIONS[model] - 2)]


def hand_in(api: Api, job: Any) -> Any:
    """Embed the texts of a job, which end in the number of their topic."""
    model = job.payload["model"]["name"]
    return complete(api, job, embeddings=[vector(model, int(row["text"].split()[-1])) for row in job.payload["texts"]])


def know(api: Api, *topics: int, **arguments: Any) -> list[Any]:
    return [api.add_memory(**{"user_id": "ana", "content": f"topic {n}", **arguments}).memory_id for n in topics]


def embed(api: Api, *kinds: str) -> list[Any]:
    """Do all queued embedding jobs; returns their results."""
    results = []
    while jobs := api.claim_jobs(worker="test", kinds=list(kinds) or ["embed", "backfill"]):
        results.append(hand_in(api, jobs[0]))
    return results


def keep_query(api: Api, model: str, topic: int, user_id: str = "ana") -> None:
    """Store the embedding of a query, as if the model had embedded the query before."""
    api.query(
        "insert into memory.query_embeddings (user_id, model, query_hash, embedding) "
        "select %(user_id)s, m.name, memory._query_hash(m, %(query)s), memory._halfvec(%(vector)s::jsonb) "
        "from memory.models as m where m.name = %(model)s on conflict do nothing returning 1",
        user_id=user_id, model=model, query=f"topic {topic}", vector=str(vector(model, topic)),
    )  # fmt: skip


def found(api: Api, topic: int = 1, user_id: str = "ana", **arguments: Any) -> tuple[set[str], list[str]]:
    """The models that a search by a kept query compares with, and what it finds."""
    query = {"query": f"topic {topic}", "mode": "vector", "sources": ["memory", "message", "document"]}
    results = api.search(**{"user_id": user_id, **query, "explain": True, **arguments})
    return {row.details["vector"]["model"] for row in results}, [row.content for row in results]


def status(api: Api) -> dict[str, tuple[int, int]]:
    return {row.model: (row.done, row.total) for row in api.backfill_status()}
