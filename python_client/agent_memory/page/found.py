"""Search with the explanation of each arm."""

from __future__ import annotations

from typing import Any

from starlette.responses import Response

from ..types import SearchResult
from .rendering import address
from .view import Visit

_MODES = ("hybrid", "vector", "keyword")
_SOURCES = ("memory", "message", "document", "summary", "artifact")
_USUAL = ("memory", "message", "document", "summary")


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
        results=None if results is None else [(each, _link(user_id, each), _features(each)) for each in results],
        modes=_MODES,
        sources=_SOURCES,
        chosen=sources,
        notices=visit.database.notices,
    )


def _features(result: SearchResult) -> list[tuple[str, dict[str, Any]]]:
    """Return what each feature of a text adds to its score (docs/search.md, Ranking), the greatest first."""
    features: dict[str, dict[str, Any]] = (result.details or {}).get("features") or {}
    return sorted(features.items(), key=lambda item: -abs(item[1]["part"]))


def _link(user_id: str, result: SearchResult) -> str | None:
    """Return where a result can be read."""
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
