"""The methods that search, and that build the context for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...types import Context, ContextPart, MemoryNeed, SearchResult
from .embedding import AsyncEmbedding


class AsyncSearch(AsyncEmbedding):
    """The methods that search, and that build the context for a model."""

    async def search(
        self,
        user_id: str,
        query: str | None = None,
        query_embedding: Sequence[float] | None = None,
        mode: str | None = None,
        sources: Sequence[str] | None = None,
        agent_id: str | None = None,
        thread_id: str | None = None,
        exclude_thread_id: str | None = None,
        memory_types: Sequence[str] | None = None,
        tags_all: Sequence[str] | None = None,
        tags_any: Sequence[str] | None = None,
        exclude_tags: Sequence[str] | None = None,
        filter: Mapping[str, Any] | None = None,
        min_score: float | None = None,
        min_confidence: float | None = None,
        created_after: datetime | None = None,
        created_before: datetime | None = None,
        as_of: datetime | None = None,
        include_superseded: bool | None = None,
        rerank: bool | None = None,
        explain: bool | None = None,
        top_k: int | None = None,
        doc_types: Sequence[str] | None = None,
        namespaces: Sequence[str] | None = None,
    ) -> list[SearchResult]:
        """Search what is stored about a user, best first; ``filter`` is containment on the metadata.

        ``mode`` is hybrid (the default), vector or keyword; ``sources`` are memory, message, document and summary
        unless given, artifact is another. The database embeds a query that comes without ``query_embedding`` where it
        can, else this client does; if neither can, hybrid searches by keyword. ``query_embedding`` has as many numbers
        as the model has dimensions. A memory and the message that it was drawn from are one result: the other is in its
        ``details``. ``top_k`` is 1 to 1000 (default 10), ``min_score`` is -1 to 1 and ``min_confidence`` 0 to 1.
        ``doc_types`` and ``namespaces`` select documents only.

        Raises InvalidValueError where there is neither ``query`` nor ``query_embedding``, or no embedding for mode
        vector.
        """
        if query is not None and query_embedding is None and mode != "keyword":
            query_embedding = await self._prepared(user_id, query, agent_id=agent_id)
        return await self._rows(
            SearchResult,
            "search",
            {"user_id": user_id},
            query=query,
            query_embedding=query_embedding,
            mode=mode,
            sources=sources,
            agent_id=agent_id,
            thread_id=thread_id,
            exclude_thread_id=exclude_thread_id,
            memory_types=memory_types,
            tags_all=tags_all,
            tags_any=tags_any,
            exclude_tags=exclude_tags,
            filter=filter,
            min_score=min_score,
            min_confidence=min_confidence,
            created_after=created_after,
            created_before=created_before,
            as_of=as_of,
            include_superseded=include_superseded,
            rerank=rerank,
            explain=explain,
            top_k=top_k,
            doc_types=doc_types,
            namespaces=namespaces,
        )

    async def get_context(
        self,
        user_id: str,
        thread_id: str,
        query: str | None = None,
        agent_id: str | None = None,
        max_tokens: int | None = None,
        query_embedding: Sequence[float] | None = None,
        recall: bool | None = None,
    ) -> Context:
        """Build the messages to send to a model within ``max_tokens``.

        They are memories, what was said before about the query, the newest messages of the thread, and summaries of
        what does not fit. ``query`` is the user's newest message unless given, ``max_tokens`` the policy's
        context.max_tokens, ``recall`` (whether earlier messages are brought back) the policy's context.recall. The
        newest message is there even when it is longer than ``max_tokens``. ``to_openai()`` of the result makes chat
        messages of it, with their tool calls.
        """
        if query_embedding is None:
            query_embedding = await self._prepared(user_id, query, thread_id, agent_id, is_context=True)
        rows = await self._rows(
            ContextPart,
            "get_context",
            {"user_id": user_id, "thread_id": thread_id},
            query=query,
            agent_id=agent_id,
            max_tokens=max_tokens,
            query_embedding=query_embedding,
            recall=recall,
        )
        return Context(rows)

    async def render_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        query: str | None = None,
        max_memories: int | None = None,
        max_tokens: int | None = None,
        query_embedding: Sequence[float] | None = None,
    ) -> str:
        """Return the "## Your Memories" block for a system prompt."""
        if query is not None and query_embedding is None:
            query_embedding = await self._prepared(user_id, query, agent_id=agent_id, is_context=True)
        return await self._value(
            str,
            "render_memories",
            {"user_id": user_id},
            agent_id=agent_id,
            query=query,
            max_memories=max_memories,
            max_tokens=max_tokens,
            query_embedding=query_embedding,
        )

    async def needs_memory(self, user_id: str, thread_id: str, query: str) -> MemoryNeed:
        """Tell by rules, without a model, whether a request of the user needs memory.

        ``decision`` is search where the request is vague or about the user's past, and skip where it is concrete or
        the recent messages of the thread say what it refers to. A thread that does not exist has no messages.

        Raises InvalidValueError where ``query`` is empty.
        """
        return await self._row(MemoryNeed, "needs_memory", {"user_id": user_id, "thread_id": thread_id, "query": query})
