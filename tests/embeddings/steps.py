"""What the tests of embeddings do again and again: store texts, claim, embed, and look at the rows."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api

Vector = list[float]
EAST, NEARLY_EAST, NORTH_EAST = [1.0, 0.0, 0.0], [1.0, 0.1, 0.0], [1.0, 1.0, 0.0]


def know(api: Api, *contents: str, **arguments: Any) -> list[UUID]:
    """Store memories as if they were extracted, one after the other; their ids."""
    arguments = {"user_id": "ana", "source": "extraction", **arguments}
    return [api.add_memory(content=content, **arguments).memory_id for content in contents]


def hand_in(api: Api, job: Any, vectors: dict[str, Vector] | None = None) -> Any:
    """Embed the texts of a job, those without a vector of their own as EAST; the job's result."""
    texts = [row["text"] for row in job.payload["texts"]]
    return complete(api, job, embeddings=[(vectors or {}).get(text, EAST) for text in texts])


def embed(api: Api, vectors: dict[str, Vector] | None = None) -> list[Any]:
    """Do all queued embedding jobs; returns their results."""
    results = []
    while jobs := api.claim_jobs(worker="test", kinds=["embed", "backfill"]):
        results.append(hand_in(api, jobs[0], vectors))
    return results


def embedded(api: Api) -> dict[str, str]:
    """The id and the vector of everything that is embedded."""
    return {
        row.id: str(row.embedding)
        for row in api.query("select id, embedding::text from memory.texts where model is not null")
    }


def texts(api: Api) -> list[str]:
    """What the one embedding job is given."""
    payload = claim(api, "embed").payload
    assert [row["number"] for row in payload["texts"]] == list(range(1, len(payload["texts"]) + 1))
    return [row["text"] for row in payload["texts"]]
