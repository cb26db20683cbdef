"""The memory service of ADK: what was said in all sessions of a user, and what was learnt from it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from typing import Any

from ...client import AsyncMemory, Memory
from ...types import SearchResult
from ..clients import asynchronous, needs
from .events import OWN, messages_of, text_of, thread_of

with needs("adk"):
    from google.adk.events.event import Event
    from google.adk.memory import BaseMemoryService
    from google.adk.memory.base_memory_service import SearchMemoryResponse
    from google.adk.memory.memory_entry import MemoryEntry
    from google.adk.sessions import Session
    from google.genai.types import Content, Part


class AgentMemoryService(BaseMemoryService):
    """A memory service: ``Runner(..., memory_service=AgentMemoryService(memory))``.

    ``add_session_to_memory`` has the memories of a session extracted by a job. The session is in the database already
    where it is one of AgentMemorySessionService; else its events are stored, each once. ``search_memory`` finds
    memories, messages, documents and summaries. What belongs to one application is not found by another. Errors of the
    database are psycopg's.

    Args:
        memory: the client, asynchronous or not.
        agent_id: whose memories are made and found; None is the name of the application.
        top_k: how many memories a search returns at most.
    """

    def __init__(self, memory: AsyncMemory | Memory, *, agent_id: str | None = None, top_k: int = 10) -> None:
        self._memory = asynchronous(memory)
        self._agent_id = agent_id
        self._top_k = top_k

    async def add_session_to_memory(self, session: Session) -> None:
        """Have memories extracted from a session; from what is new, if it was added before."""
        await self.add_events_to_memory(
            app_name=session.app_name, user_id=session.user_id, events=session.events, session_id=session.id
        )

    async def add_events_to_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        events: Sequence[Event],
        session_id: str | None = None,
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Have memories extracted from events, which are stored unless their session has them.

        Args:
            app_name: the application.
            user_id: whose memories they become.
            events: the events.
            session_id: their session; None for events of no session.
            custom_metadata: metadata of the messages that are stored.
        """
        thread_id = thread_of(app_name, session_id or "events")
        known = await self._memory.get_messages(user_id, thread_id, whole=True, filter={OWN: {"event": {}}})
        known_ids = {message.metadata[OWN]["event"]["id"] for message in known}
        messages = [
            self._stored(message, event, place, custom_metadata)
            for event in events
            if event.content and event.content.parts and event.id not in known_ids
            for place, message in enumerate(messages_of(event))
        ]
        if messages:
            await self._memory.add_messages(user_id, thread_id, messages, agent_id=self._agent(app_name))
        if messages or known:
            await self._memory.extract_memories(user_id, thread_id)

    async def add_memory(
        self,
        *,
        app_name: str,
        user_id: str,
        memories: Sequence[MemoryEntry],
        custom_metadata: Mapping[str, object] | None = None,
    ) -> None:
        """Store memories as they are, all or none; one that is known already stays."""
        stored = [
            {
                "content": text_of(entry.content),
                "metadata": {**(custom_metadata or {}), **entry.custom_metadata, **_named(entry.author)},
                **({"valid_from": entry.timestamp} if entry.timestamp else {}),
            }
            for entry in memories
        ]
        if stored:
            await self._memory.add_memories(user_id, stored, agent_id=self._agent(app_name))

    async def search_memory(self, *, app_name: str, user_id: str, query: str) -> SearchMemoryResponse:
        """Return what is known about the query, best first."""
        if not query.strip():
            return SearchMemoryResponse()
        found = await self._memory.search(user_id, query, agent_id=self._agent(app_name), top_k=self._top_k)
        return SearchMemoryResponse(memories=[_entry(result) for result in found])

    async def delete_memory(self, *, app_name: str, user_id: str, memory_id: str | None = None) -> None:  # noqa: ARG002
        """Delete a memory, message or document that a search has found; one that is gone is no error.

        Raises:
            ValueError: the id is not one of a search, or that of a summary, which its messages make again.
        """
        if not memory_id:
            return
        source, _, found = memory_id.partition(":")
        if source == "memory":
            await self._memory.delete_memory(user_id, found)
        elif source == "message":
            thread_id, _, seq = found.rpartition("/")
            await self._memory.delete_message(user_id, thread_id, int(seq))
        elif source == "document":
            await self._memory.delete_document(user_id, found)
        else:
            raise ValueError(
                f"memory_id: {memory_id} is none that can be deleted: pass the id of a memory or a message"
            )

    def _agent(self, app_name: str) -> str:
        return self._agent_id or app_name

    def _stored(
        self, message: dict[str, Any], event: Event, place: int, custom_metadata: Mapping[str, object] | None
    ) -> dict[str, Any]:
        message["metadata"][OWN].pop("changes_state", None)
        return {
            **message,
            "metadata": {**(custom_metadata or {}), **message["metadata"]},
            "created_at": datetime.fromtimestamp(event.timestamp, timezone.utc).isoformat(),
            "idempotency_key": f"adk-memory-{event.id}-{place}"[:64],
        }


def _entry(found: SearchResult) -> MemoryEntry:
    event = found.metadata.get(OWN, {}).get("event", {})
    author = event.get("author") or found.metadata.get("author")
    said_at = found.valid_from or found.created_at
    return MemoryEntry(
        id=f"{found.source}:{found.id}",
        content=Content(role="user", parts=[Part(text=found.content)]),
        author=author,
        timestamp=said_at.isoformat() if said_at else None,
        custom_metadata={"source": found.source, "score": found.score},
    )


def _named(author: str | None) -> dict[str, str]:
    return {"author": author} if author else {}
