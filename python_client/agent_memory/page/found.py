"""Search with the explanation of each arm."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from starlette.responses import Response

from ..types import SearchResult
from .asked import Asked
from .rendering import address
from .view import Visit

_MODES = ("hybrid", "vector", "keyword")
_SOURCES = ("memory", "message", "document", "summary", "artifact")
_USUAL = ("memory", "message", "document", "summary")
_FEATURES = {
    "meaning": "near the query in meaning",
    "words": "has words of the query",
    "near": "messages around it have words of the query",
    "neighbour": "a message next to it is near in meaning",
    "length": "length",
    "speaker": "said by another person than the query names",
    "day": "said on another day than the query names",
    "reply": "not said by the side that is asked for",
    "memory": "a memory",
    "summary": "a summary beside messages",
    "use": "was reported wrong",
    "intercept": "where every text begins",
}
"""What each feature of a score says of a text (docs/search.md, Ranking)."""
_HELD = {"speaker", "reply", "memory", "summary", "intercept"}
"""Features that a text has or has not: their value says nothing more."""


@dataclass(frozen=True)
class Part:
    """What one feature of a text adds to its score, or takes from it."""

    name: str
    value: float | None
    part: float


@dataclass(frozen=True)
class Parts:
    """How features make a score: their sum is the logarithm of its odds."""

    parts: list[Part]
    total: float
    score: float


async def show_search(visit: Visit) -> Response:
    """Show the results of a query, and the reasons of their order."""
    asked = visit.asked
    user_id, query = asked.needed("user"), asked.text("query")
    sources = asked.lists.get("source", list(_USUAL))
    results = None
    if query is not None:
        results = await visit.database.memory.search(
            user_id,
            query,
            mode=asked.text("mode"),  # type: ignore[arg-type]
            sources=sources,  # type: ignore[arg-type]
            agent_id=asked.text("agent"),
            thread_id=asked.text("thread"),
            explain=True,
            include_superseded=asked.has("superseded"),
            top_k=asked.number("top_k", 1, 1000) or 10,
        )
    return visit.shown(
        "search.html",
        results=None if results is None else [(each, _link(asked, each), _parts(each)) for each in results],
        modes=_MODES,
        sources=_SOURCES,
        chosen=sources,
        notices=visit.database.notices,
    )


def _parts(result: SearchResult) -> Parts | None:
    """Return the parts of a score, the greatest first; none where the score has no features."""
    why = result.details or {}
    features: dict[str, dict[str, Any]] = why.get("features") or {}
    if not features:
        return None
    says = _FEATURES if "vector" in why else _FEATURES | {"meaning": "its meaning was not compared"}
    parts = [
        Part(says.get(name, name), None if name in _HELD else each["value"], each["part"])
        for name, each in features.items()
    ]
    total = sum(part.part for part in parts)
    return Parts(sorted(parts, key=lambda part: -abs(part.part)), total, 1 / (1 + math.exp(-total)))


def _link(asked: Asked, result: SearchResult) -> str | None:
    """Return where a result can be read."""
    user_id = asked.needed("user")
    match result.source:
        case "memory":
            return address("memory", user=user_id, id=result.id)
        case "message":
            seq = int(result.id.rpartition("/")[2])
            return address("thread", user=user_id, thread=result.thread_id, before=seq + 25) + f"#m{seq}"
        case "artifact":
            return address("artifact", user=user_id, key=result.id)
        case "summary" if result.thread_id:
            return address("thread", user=user_id, thread=result.thread_id)
    return None
