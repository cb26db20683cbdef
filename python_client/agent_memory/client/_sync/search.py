# Generated from _async/search.py by generate_sync.py; do not edit.
"""The methods that search, and that build the context for a model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any

from ...calls import SyncMethods, sql_function
from ...choices import Mode, Source
from ...types import Context, MemoryNeed, SearchResult
from ...vectors import Embedding
from .embedding import SyncEmbedder


def _embeds(when: Callable[[Mapping[str, Any]], Any], *names: str, is_context: bool = True) -> Callable[..., Any]:
    """Return what embeds the query of a call where neither its caller nor the server does.

    Args:
        when: tells from the arguments of the call whether an embedding would be of use.
        names: what of the arguments says which model embeds, besides the user and the query.
        is_context: whether the call builds a context.
    """

    def embed(methods: SyncSearch, given: dict[str, Any]) -> None:
        if given.get("query_embedding") is None and when(given):
            of_it = {name: given.get(name) for name in ("query", *names)}
            given["query_embedding"] = methods._embedder.embedding(given["user_id"], is_context, **of_it)

    return embed


class SyncSearch(SyncMethods):
    """The methods that search, and that build the context for a model."""

    _embedder: SyncEmbedder

    @sql_function(
        before=_embeds(
            lambda given: given.get("query") is not None and given.get("mode") != "keyword",
            "agent_id",
            is_context=False,
        )
    )
    def search(
        self,
        user_id: str,
        query: str | None = None,
        query_embedding: Embedding | None = None,
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
        spaces: Sequence[str] | None = None,
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
            spaces: search the memories and documents of these spaces as well, which are granted to the user; None:
                those of the policy's context.spaces that are granted.

        Returns:
            Results, best first. A memory and the message that it was drawn from are one result.

        Raises:
            InvalidValueError: there is neither ``query`` nor ``query_embedding``, no embedding for mode vector, or an
                argument that is none of its choices; the message names it.
            NotFoundError: one of ``spaces`` is not granted to the user.
        """

    @sql_function(before=_embeds(lambda _: True, "thread_id", "agent_id"))
    def get_context(
        self,
        user_id: str,
        thread_id: str,
        query: str | None = None,
        agent_id: str | None = None,
        max_tokens: int | None = None,
        query_embedding: Embedding | None = None,
        recall: bool | None = None,
        whole_thread: bool | None = False,
        spaces: Sequence[str] | None = None,
        explain: bool | None = False,
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
            spaces: show memories of these spaces as well, which are granted to the user; None: those of the policy's
                context.spaces that are granted.
            explain: add a part without an ordinal for each reason for which something was left out; its ``metadata``
                has source, reason, tokens, count and ids.

        Returns:
            Parts in the order in which a model reads them, each with its tokens; ``to_openai()`` makes chat messages of
            them, with their tool calls.
        """

    @sql_function(before=_embeds(lambda given: given.get("query") is not None, "agent_id"))
    def render_memories(
        self,
        user_id: str,
        agent_id: str | None = None,
        query: str | None = None,
        max_memories: int | None = 20,
        max_tokens: int | None = None,
        query_embedding: Embedding | None = None,
    ) -> str:
        """Return the "## Your Memories" block for a system prompt."""

    @sql_function
    def needs_memory(self, user_id: str, thread_id: str, query: str) -> MemoryNeed:
        """Tell by rules, without a model, whether a request of the user needs memory.

        ``decision`` is search where the request is vague or about the user's past, and skip where it is concrete or
        the recent messages of the thread say what it refers to. A thread that does not exist has no messages.

        Raises InvalidValueError where ``query`` is empty.
        """

    @sql_function(
        before=_embeds(
            lambda given: (
                given.get("query") is not None and given.get("max_tokens") and "[MemoryRef: " in str(given["content"])
            )
        )
    )
    def expand_refs(
        self,
        user_id: str,
        content: str,
        max_tokens: int | None = None,
        query: str | None = None,
        query_embedding: Embedding | None = None,
    ) -> str:
        """Return a text with its placeholders replaced by what they stand for, at most ``max_tokens`` tokens in all.

        With a ``query``, in words or as an embedding, the artifacts that say most of it come first, and of one that
        does not fit the lines that do, with their numbers. Without one they come in the order of the text, and each
        whole. What does not fit, or is not this user's, stays a placeholder; so do placeholders in what is inserted.
        Without ``max_tokens`` everything is replaced, with 0 nothing.
        """
