"""The calls of mem0 as coroutines over a client."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from abc import ABC, abstractmethod
from collections.abc import Mapping
from concurrent.futures import Future
from contextlib import suppress
from datetime import date, datetime
from typing import Any
from uuid import UUID

from ... import client
from ...calls import AsyncWorkerProtocol, WorkerProtocol
from ...chat_messages import from_openai
from ...errors import AgentMemoryError, NotFoundError
from ...types import Job, MemoryRecord, SearchResult, UserRecord
from .config import Configured
from .filters import Scope, matches, parts_of, scope
from .values import end_of, not_found, payload_of, text_of

logger = logging.getLogger("agent_memory")

THREAD = "mem0"
"""The thread of messages that belong to no run."""
AGENT = "default"
MOST = 1000
"""Results that a search compares with conditions that the database cannot compare."""

_EVENTS = {"insert": "ADD", "restore": "ADD", "update": "UPDATE"}
_UNSET: Any = object()


class Calls(Configured, ABC):
    """The methods of both classes: each is a coroutine over a client."""

    _memory: client.AsyncMemory
    _user_id: str | None
    _wait_seconds: float

    async def add(
        self,
        messages: Any,
        *,
        user_id: str | None = None,
        agent_id: str | None = None,
        run_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None = None,
        infer: bool = True,
        memory_type: str | None = None,
    ) -> dict[str, Any]:
        """Learn from messages, or store them as memories with ``infer=False``.

        The messages are stored in the thread of the run, and what they say about the user is extracted, by the model
        that the policy names. The extraction runs in this process; if it takes longer than ``wait_seconds``, it goes on
        by itself, and the result has ``status`` PENDING. ``memory_type="procedural_memory"`` stores the messages as
        one memory of that type.

        Returns:
            ``{"results": [{"id": ..., "memory": ..., "event": "ADD"}, ...]}``.

        Raises:
            ValueError: nobody is named, or the messages are none.
            AgentMemoryError: the extraction has failed.
        """
        ids = {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}
        said = list(parts_of(messages))
        place = scope(None, ids, self._user_id)
        extras = dict(metadata or {})
        if memory_type == "procedural_memory":
            text = "\n".join(f"{message['role']}: {text_of(message)}" for message in said)
            return {"results": await self._stored(place, [(text, extras)], "procedural", expiration_date)}
        if memory_type is not None:
            raise ValueError(f"memory_type must be procedural_memory or None, not {memory_type!r}")
        if infer:
            return await self._learned(place, said, extras, expiration_date)
        texts = []
        for number, message in enumerate(said):
            if content := text_of(message) if message["role"] != "system" else None:
                actor = {"actor_id": message["name"]} if message.get("name") else {}
                texts.append((content, {**extras, "role": message["role"], **actor}))
            elif content == "":
                logger.warning("messages[%s] has no text, so no memory was made of the message", number)
        return {"results": await self._stored(place, texts, None, expiration_date)}

    async def _stored(
        self,
        place: Scope,
        texts: list[tuple[str, dict[str, Any]]],
        memory_type: str | None,
        ends: date | str | None,
    ) -> list[dict[str, Any]]:
        """Store texts with their metadata, all or none."""
        others = {"memory_type": memory_type, "thread_id": place.run_id, "expires_at": end_of(ends)}
        added = await self._memory.add_memories(
            place.user_id,
            [{"content": text, "metadata": metadata, **others} for text, metadata in texts],
            agent_id=place.agent_id,
        )
        return [
            {"id": self._id(place.user_id, each.memory_id), "memory": text, "event": "ADD", **metadata}
            for each, (text, metadata) in zip(added, texts, strict=True)
        ]

    async def _learned(
        self, place: Scope, said: list[dict[str, Any]], metadata: dict[str, Any], ends: date | str | None
    ) -> dict[str, Any]:
        user_id, thread_id = place.user_id, place.run_id or THREAD
        messages = [from_openai(message) for message in said]
        stored = await self._memory.add_messages(user_id, thread_id, messages, agent_id=place.agent_id)
        job_id = await self._memory.extract_memories(user_id, thread_id)
        job = await self._done(user_id, job_id)
        if job is None:
            return {"results": [], "status": "PENDING", "job_id": job_id}
        numbers = {message.seq for message in stored}
        # The job may have read messages of earlier calls too, so the source messages tell which memories are new.
        records = await self._memory.list_memories(
            user_id, thread_id=thread_id, created_after=job.created_at, row_limit=MOST
        )
        drawn = [record for record in reversed(records) if numbers.intersection(record.source_seqs or [])]
        for record in drawn if metadata or ends is not None else []:
            changed = {**record.metadata, **metadata}
            await self._memory.update_memory(user_id, record.memory_id, metadata=changed, expires_at=end_of(ends))
        ids = [self._id(user_id, record.memory_id) for record in drawn]
        return {
            "results": [
                {"id": id_, "memory": record.content, "event": "ADD"} for id_, record in zip(ids, drawn, strict=True)
            ]
        }

    async def _done(self, user_id: str, job_id: int) -> Job | None:
        """The extraction when it is done, or None where that takes too long. It runs here if no worker has it yet."""
        from ...jobs.due_jobs import DueJobs, settled

        job = await settled(
            lambda: DueJobs(self._protocol(), self._loop(), user_id, "extract_memories"),
            lambda: self._memory.get_job(user_id, job_id),
            self._wait,
            self._wait_seconds,
        )
        if job is not None and job.status != "completed":
            raise AgentMemoryError(f"the extraction has failed: {job.error}", hint="See memory.dead_jobs.")
        return job

    async def search(
        self,
        query: str,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        threshold: float | None = None,
        rerank: bool | None = None,
        **ids: Any,
    ) -> dict[str, Any]:
        """Search memories, best first.

        Args:
            query: what to look for.
            filters: ``user_id``, ``agent_id``, ``run_id``, and conditions on the metadata: values, operators (eq, ne,
                gt, gte, lt, lte, in, nin, contains, icontains), "*" for any value, AND, OR, NOT.
            top_k: the most results, 20 unless given.
            limit: the name of ``top_k`` in version 1.
            threshold: the least score.
            rerank: whether a rerank model orders the results anew; None: if the policy names one.
            **ids: ``user_id``, ``agent_id`` and ``run_id``, as in version 1.

        Returns:
            ``{"results": [{"id": ..., "memory": ..., "score": ..., "metadata": ...}, ...]}``.

        Raises:
            ValueError: nobody is named, the query is blank, or an operator is unknown.
        """
        if not isinstance(query, str) or not query.strip():
            raise ValueError("query must be a text that is not blank")
        place, most = scope(filters, ids, self._user_id), top_k or limit or 20
        found = await self._memory.search(
            place.user_id,
            query,
            sources=["memory"],
            agent_id=place.agent_id,
            thread_id=place.run_id,
            filter=place.containment(),
            min_score=threshold,
            rerank=rerank,
            top_k=most if place.is_contained() else MOST,
        )
        items = [{**self._item(place.user_id, hit), "score": hit.score} for hit in found]
        return {"results": [item for item in items if matches(payload_of(item), place.wanted)][:most]}

    async def get_all(
        self,
        *,
        filters: Mapping[str, Any] | None = None,
        top_k: int | None = None,
        limit: int | None = None,
        **ids: Any,
    ) -> dict[str, Any]:
        """List memories, newest first; 100 of them unless ``top_k`` or ``limit`` says otherwise. See ``search``."""
        place, most = scope(filters, ids, self._user_id), top_k or limit or 100
        results: list[dict[str, Any]] = []
        async for record in self._records(place, MOST if not place.is_contained() else min(most, MOST)):
            item = self._item(place.user_id, record)
            if matches(payload_of(item), place.wanted):
                results.append(item)
            if len(results) == most:
                break
        return {"results": results}

    async def _records(self, place: Scope, page: int, *, hidden: bool = False) -> Any:
        offset = 0
        while rows := await self._memory.list_memories(
            place.user_id,
            agent_id=place.agent_id,
            thread_id=place.run_id,
            filter=place.containment(),
            row_limit=page,
            row_offset=offset,
            include_superseded=hidden,
            include_quarantined=hidden,
        ):
            for row in rows:
                yield row
            offset += len(rows)

    async def get(self, memory_id: str) -> dict[str, Any] | None:
        """Return a memory, or None where there is none."""
        user_id, wanted = self._named(memory_id)
        if wanted is None:
            return None
        with suppress(NotFoundError):
            return self._item(user_id, await self._memory.get_memory(user_id, wanted))
        return None

    async def update(
        self,
        memory_id: str,
        text: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        expiration_date: date | str | None = _UNSET,
        data: str | None = None,
    ) -> dict[str, str]:
        """Change the text, parts of the metadata, or the day after which a memory is hidden (None: never).

        Args:
            memory_id: the memory.
            text: what it says from now on.
            metadata: members that are added or changed.
            expiration_date: a date, or YYYY-MM-DD.
            data: the name of ``text`` in version 1.

        Raises:
            ValueError: there is no such memory, or nothing to change.
        """
        text = text if text is not None else data
        if text is None and metadata is None and expiration_date is _UNSET:
            raise ValueError("text, metadata or expiration_date must be given")
        user_id, wanted = self._existing(memory_id)
        expires_at = None if expiration_date is _UNSET else end_of(expiration_date) or datetime.max
        try:
            changed = None
            if metadata is not None:
                changed = {**(await self._memory.get_memory(user_id, wanted)).metadata, **metadata}
            await self._memory.update_memory(user_id, wanted, text, metadata=changed, expires_at=expires_at)
        except NotFoundError:
            raise not_found(memory_id) from None
        return {"message": "Memory updated successfully!"}

    async def delete(self, memory_id: str) -> dict[str, str]:
        """Delete a memory.

        Raises:
            ValueError: there is no such memory.
        """
        user_id, wanted = self._existing(memory_id)
        if not await self._memory.delete_memory(user_id, wanted):
            raise not_found(memory_id)
        return {"message": "Memory deleted successfully!"}

    async def delete_all(
        self, user_id: str | None = None, agent_id: str | None = None, run_id: str | None = None
    ) -> dict[str, str]:
        """Delete the memories of a user, an agent or a run.

        Raises:
            ValueError: nobody is named.
        """
        place = scope(None, {"user_id": user_id, "agent_id": agent_id, "run_id": run_id}, self._user_id)
        await self._delete(place)
        return {"message": "Memories deleted successfully!"}

    async def reset(self, *, all_users: bool = False) -> None:
        """Delete all memories of the user for whom this object was made, of every agent and run.

        mem0 deletes those of everybody in its collection. A database is shared with other programs, so here that must
        be asked for. As after ``delete``, a memory can be restored until the next sweep; messages stay.

        Args:
            all_users: delete the memories of every user in the database, also those that other programs have stored.

        Raises:
            ValueError: this object was made without a user, and ``all_users`` is not given.
            PermissionDeniedError: the role may not list the users.
        """
        if self._user_id is not None and not all_users:
            await self._delete(Scope(self._user_id, None, None, {}))
        elif not all_users:
            raise ValueError(
                "reset() would delete the memories of every user of the database: call reset(all_users=True) if that "
                "is meant, delete_all(user_id=...) for one user, or make the object with a user_id"
            )
        else:
            users: list[str] = []
            while page := await self._users(len(users)):
                users += [user.user_id for user in page]
            for user_id in users:
                await self._delete(Scope(user_id, None, None, {}))

    async def _delete(self, place: Scope) -> None:
        """Delete the memories of a scope, also superseded ones, which would come back without their successor."""
        for record in [row async for row in self._records(place, MOST, hidden=True)]:
            await self._memory.delete_memory(place.user_id, record.memory_id)

    async def history(self, memory_id: str) -> list[dict[str, Any]]:
        """Return the changes of a memory, oldest first; empty where there is no such memory."""
        user_id, wanted = self._named(memory_id)
        changes: list[dict[str, Any]] = []
        if wanted is None:
            return changes
        with suppress(NotFoundError):
            for version in await self._memory.get_memory_history(user_id, wanted):
                event = _EVENTS.get(version.operation, "DELETE")
                changes.append(
                    {
                        "id": f"{memory_id}#{version.version}",
                        "memory_id": memory_id,
                        "old_memory": changes[-1]["new_memory"] or changes[-1]["old_memory"] if changes else None,
                        "new_memory": None if event == "DELETE" else version.content,
                        "event": event,
                        "created_at": changes[0]["created_at"] if changes else version.changed_at.isoformat(),
                        "updated_at": version.changed_at.isoformat() if changes else None,
                        "is_deleted": event == "DELETE",
                        "actor_id": version.metadata.get("actor_id"),
                        "role": version.metadata.get("role"),
                    }
                )
        return changes

    def _id(self, user_id: str, memory_id: object) -> str:
        """An id names its user, because agent_memory looks for a memory only among those of a user."""
        return str(memory_id) if self._user_id == user_id else f"{user_id}/{memory_id}"

    def _named(self, memory_id: str) -> tuple[str, UUID | None]:
        named, _, wanted = str(memory_id).rpartition("/")
        user_id = named or self._user_id or ""
        with suppress(ValueError):
            return user_id, UUID(wanted) if user_id else None
        return user_id, None

    def _existing(self, memory_id: str) -> tuple[str, UUID]:
        user_id, wanted = self._named(memory_id)
        if wanted is None:
            raise not_found(memory_id)
        return user_id, wanted

    def _item(self, user_id: str, found: MemoryRecord | SearchResult) -> dict[str, Any]:
        is_hit = isinstance(found, SearchResult)
        agent_id = (found.details or {}).get("agent_id") if is_hit else found.agent_id  # type: ignore[union-attr]
        named = {"agent_id": None if agent_id == AGENT else agent_id}
        named["run_id"] = None if found.thread_id == THREAD else found.thread_id
        return {
            "id": self._id(user_id, found.id if is_hit else found.memory_id),  # type: ignore[union-attr]
            "memory": found.content,
            "hash": hashlib.md5(found.content.encode(), usedforsecurity=False).hexdigest(),
            "metadata": found.metadata or None,
            "created_at": found.created_at.isoformat(),
            "updated_at": None if is_hit else found.updated_at.isoformat(),  # type: ignore[union-attr]
            "user_id": user_id,
            **{name: value for name, value in named.items() if value is not None},
        }

    @abstractmethod
    def _protocol(self) -> AsyncWorkerProtocol | WorkerProtocol:
        """The functions of workers, by the client's connections."""

    @abstractmethod
    async def _users(self, offset: int) -> list[UserRecord]:
        """Users of the database from this place on."""

    @abstractmethod
    def _loop(self) -> asyncio.AbstractEventLoop | None:
        """The loop that the calls run on; None where they block."""

    @abstractmethod
    async def _wait(self, end: Future[None], seconds: float) -> object:
        """Wait for some seconds for the end of work in another thread."""
