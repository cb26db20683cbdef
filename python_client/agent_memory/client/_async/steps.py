"""What happens before some calls: queries are embedded, and users of two nodes are brought together."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from ...calls import AsyncMethods, AsyncRoutedCaller
from ...jobs.background import call_in_loop
from ..user_moves import move_user_to


async def bring_together(methods: AsyncMethods, given: Mapping[str, Any]) -> None:
    """Move a user who is to be merged to the node of the other one, where these are two nodes of a cluster."""
    from_user, into_user = given["from_user_id"], given["into_user_id"]
    if not isinstance(from_user, str) or not isinstance(into_user, str):
        return
    if not isinstance(methods.caller, AsyncRoutedCaller):
        return
    source = await methods.caller.of(from_user, is_fresh=True)
    if source is not await methods.caller.of(into_user):
        await call_in_loop(move_user_to, await source.place(), from_user, into_user)


def _embeds(when: Callable[[Mapping[str, Any]], Any], *names: str, is_context: bool = True) -> Callable[..., Any]:
    """Return what embeds the query of a call where neither its caller nor the server does."""

    async def embed(methods: Any, given: dict[str, Any]) -> None:
        if given.get("query_embedding") is None and when(given):
            of_it = {name: given.get(name) for name in ("query", *names)}
            given["query_embedding"] = await methods._embedder.embedding(given["user_id"], is_context, **of_it)

    return embed


embed_for_search = _embeds(
    lambda given: given.get("query") is not None and given.get("mode") != "keyword", "agent_id", is_context=False
)
embed_for_context = _embeds(lambda _: True, "thread_id", "agent_id")
embed_for_memories = _embeds(lambda given: given.get("query") is not None, "agent_id")
embed_for_refs = _embeds(
    lambda given: given.get("query") is not None and given.get("max_tokens") and "[MemoryRef: " in str(given["content"])
)
