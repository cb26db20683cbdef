"""The methods that search, and that build the context for a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from ...choices import Mode, Source
from ...types import Context, ContextPart, MemoryNeed, SearchResult
from .embedding import AsyncEmbedding


class AsyncSearch(AsyncEmbedding):
    """The methods that search, and that build the context for a model."""

    async def search(
        self,
        user_id: str,
        query: str | None = None,
        query_embedding: Sequence[float] | None = None,
        mode: Mode | None = "hybrid",
        sources: Sequence[Source] | None = ("memory", "message", "document", "summary"),
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
        include_superseded: bool | None = False,
        rerank: bool | None = None,
        explain: bool | None = False,
        top_k: int | None = 10,
        doc_types: Sequence[str] | None = None,
        namespaces: Sequence[str] | None = None,
    ) -> list[SearchResult]:
        """Search what is stored about a user.

        Args:
            user_id: whose memory is searched.
            query: what to look for, in words. The database embeds it where it can, else this client does; if neither
                can, mode hybrid searches by keyword and says so with a DegradedWarning.
            query_embedding: the query's embedding, where the caller has it; as many numbers as the model has
                dimensions.
            mode: by words and meaning (hybrid), by meaning alone (vector) or by words alone (keyword).
            sources: where to look; artifact is another one.
            agent_id: only what this agent stored.
            thread_id: only this thread.
            exclude_thread_id: all but this thread.
            memory_types: only memories of these types.
            tags_all: only memories with all these tags.
            tags_any: only memories with one of these tags.
            exclude_tags: no memories with one of these tags.
            filter: a part of the metadata that results must have.
            min_score: the least score, -1 to 1.
            min_confidence: the least confidence of a memory, 0 to 1.
            created_after: only what was created after this moment, which is left out itself.
            created_before: only what was created before this moment, which is left out itself.
            as_of: the memories that held at this moment.
            include_superseded: also memories that newer ones took the place of.
            rerank: let a rerank model order the best candidates; None: if the policy names one.
            explain: say in ``details`` how each score came about.
            top_k: how many results at most, 1 to 1000.
            doc_types: only documents of these types.
            namespaces: only documents of these namespaces.

        Returns:
            Results, best first. A memory and the message that it was drawn from are one result.

        Raises:
            InvalidValueError: there is neither ``query`` nor ``query_embedding``, no embedding for mode vector, or an
                argument that is none of its choices; the message names it.
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
        whole_thread: bool = False,
    ) -> Context:
        """Build the messages to send to a model.

        They are instructions, memories, what was said before about the query, the newest messages of the thread, and
        summaries of what does not fit.

        Args:
            user_id: whose context it is.
            thread_id: the thread that goes on.
            query: what the next answer is about; None is the user's newest message.
            agent_id: the agent that answers; None are all.
            max_tokens: the most that the parts may have together; None is the policy's context.max_tokens. The newest
                message is there even when it is longer.
            query_embedding: the query's embedding, where the caller has it.
            recall: whether earlier messages are brought back; None is the policy's context.recall.
            whole_thread: without ``max_tokens``, give the thread as many tokens as it needs until the policy's
                compression.threshold_tokens, beside the policy's context.max_tokens for everything else.

        Returns:
            Parts in the order in which a model reads them, each with its tokens; ``to_openai()`` makes chat messages of
            them, with their tool calls.
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
            whole_thread=whole_thread,
        )
        return Context(rows)

    async def render_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        query: str | None = None,
        max_memories: int | None = 20,
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

    async def expand_refs(
        self,
        user_id: str,
        content: str,
        max_tokens: int | None = None,
        query: str | None = None,
        query_embedding: Sequence[float] | None = None,
    ) -> str:
        """Return a text with its placeholders replaced by what they stand for, at most ``max_tokens`` tokens in all.

        With a ``query``, in words or as an embedding, the artifacts that say most of it come first, and of one that
        does not fit the lines that do, with their numbers. Without one they come in the order of the text, and each
        whole. What does not fit, or is not this user's, stays a placeholder; so do placeholders in what is inserted.
        Without ``max_tokens`` everything is replaced, with 0 nothing.
        """
        if query is not None and max_tokens and query_embedding is None and "[MemoryRef: " in content:
            query_embedding = await self._prepared(user_id, query, is_context=True)
        return await self._value(
            str,
            "expand_refs",
            {"user_id": user_id, "content": content},
            max_tokens=max_tokens,
            query=query,
            query_embedding=query_embedding,
        )
