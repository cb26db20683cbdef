"""The session service of ADK: a session is a thread, and its state is metadata of the thread."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager, suppress
from typing import Any
from weakref import WeakValueDictionary

from pydantic_core import to_jsonable_python

from ...client import AsyncMemory, Memory
from ...errors import ConflictError, NotFoundError, RetryableError
from ...types import Message
from ..clients import asynchronous, needs, threaded
from .events import OWN, events_of, id_of, messages_of, thread_of

with needs("adk"):
    from google.adk.errors import StaleSessionError
    from google.adk.errors.already_exists_error import AlreadyExistsError
    from google.adk.errors.session_not_found_error import SessionNotFoundError
    from google.adk.events.event import Event
    from google.adk.sessions import BaseSessionService, Session
    from google.adk.sessions.base_session_service import GetSessionConfig, ListSessionsResponse
    from google.adk.sessions.state import State

_PAGE = 1000
_Key = tuple[str, str, str]


class AgentMemorySessionService(BaseSessionService):
    """A session service: ``Runner(agent=..., app_name=..., session_service=AgentMemorySessionService(memory))``.

    A session is the thread ``app_name/session_id`` of its user. Events come back as they were added; for agent_memory
    they are messages, calls of tools and their results, so they are found, summarised and shown in contexts, and expire
    as the policy says. State of the session is metadata of its thread, state of the user (``user:``) of the thread
    ``app_name/``, state of the application (``app:``) of that thread of the user ``app:app_name``; ``temp:`` is not
    stored. An event that is appended to a session which somebody else has gone on with meanwhile raises ADK's
    StaleSessionError. Errors of the database are psycopg's.

    Args:
        memory: the client, asynchronous or not.
        agent_id: the agent whose policy counts, and whose memories are made; None is the name of the application.
    """

    def __init__(self, memory: AsyncMemory | Memory, *, agent_id: str | None = None) -> None:
        self._memory = asynchronous(memory)
        self._admin = memory.admin if isinstance(memory, AsyncMemory) else threaded(memory.admin)
        self._agent_id = agent_id
        self._locks: WeakValueDictionary[_Key, asyncio.Lock] = WeakValueDictionary()

    async def create_session(
        self, *, app_name: str, user_id: str, state: dict[str, Any] | None = None, session_id: str | None = None
    ) -> Session:
        """Make a session.

        Raises:
            AlreadyExistsError: there is one of this id.
        """
        session_id = (session_id or "").strip() or str(uuid.uuid4())
        given, now = _scopes(to_jsonable_python(state or {}, serialize_unknown=True)), time.time()
        own = {"app_name": app_name, "created_at": now, "state": given[""], "upto": -1}
        try:
            await self._memory.set_thread(
                user_id, thread_of(app_name, session_id), metadata={OWN: own}, expected_metadata={}
            )
        except RetryableError:
            raise AlreadyExistsError(f"Session with id {session_id} already exists.") from None
        shared = await self._merge_shared(app_name, user_id, given)
        session = Session(app_name=app_name, user_id=user_id, id=session_id, state={**given[""], **shared})
        session.last_update_time = now
        session._storage_update_marker = _marker(await self._newest(user_id, thread_of(app_name, session_id)))
        return session

    async def get_session(
        self, *, app_name: str, user_id: str, session_id: str, config: GetSessionConfig | None = None
    ) -> Session | None:
        """Return a session with its state and its events, or the events that the configuration asks for."""
        session_id = session_id.strip()
        thread_id = thread_of(app_name, session_id)
        newest = await self._newest(user_id, thread_id)
        try:
            own = await self._settled(app_name, user_id, thread_id)
        except SessionNotFoundError:
            return None
        config = config or GetSessionConfig()
        events = await self._events(user_id, thread_id, config.num_recent_events)
        updated = events[-1].timestamp if events else newest.created_at.timestamp() if newest else own["created_at"]
        if config.after_timestamp is not None:
            events = [event for event in events if event.timestamp >= config.after_timestamp]
        session = Session(app_name=app_name, user_id=user_id, id=session_id, events=events, last_update_time=updated)
        session.state = {**own["state"], **await self._shared(app_name, user_id)}
        session._storage_update_marker = _marker(newest)
        return session

    async def list_sessions(self, *, app_name: str, user_id: str | None = None) -> ListSessionsResponse:
        """Return the sessions of a user, or of all users, without their events, the last used one last."""
        users = [user_id] if user_id is not None else [user async for user in self._users()]
        listed = []
        for user in users:
            shared = await self._shared(app_name, user)
            async for thread in self._threads(user, app_name):
                own = thread.metadata[OWN]
                updated = thread.last_at.timestamp() if thread.last_at else own["created_at"]
                session = Session(
                    app_name=app_name, user_id=user, id=thread.thread_id.partition("/")[2], last_update_time=updated
                )
                session.state = {**own["state"], **shared}
                listed.append(session)
        listed.sort(key=lambda session: (session.last_update_time, session.user_id, session.id))
        return ListSessionsResponse(sessions=listed)

    async def delete_session(self, *, app_name: str, user_id: str, session_id: str) -> None:
        """Delete a session with all that was made of it alone, such as summaries; stated memories stay."""
        await self._memory.delete_thread(user_id, thread_of(app_name, session_id.strip()))

    async def get_user_state(self, *, app_name: str, user_id: str) -> dict[str, Any]:
        """Return the state that all sessions of the user share, without the prefix ``user:``."""
        return await self._merge(user_id, thread_of(app_name, ""), {})

    async def append_event(self, session: Session, event: Event) -> Event:
        """Append an event, to the session of the database and to this object. The same event again changes nothing.

        Raises:
            StaleSessionError: somebody has appended to the session since it was read: read it again.
            SessionNotFoundError: the session was deleted.
        """
        if event.partial:
            return event
        async with self._locked((session.app_name, session.user_id, session.id)):
            if any(known == event for known in session.events if known.id == event.id):
                return event
            thread_id = thread_of(session.app_name, session.id)
            await self._metadata(session.user_id, thread_id)
            await self._add(session, thread_id, event)
            if event.actions and event.actions.state_delta:
                await self._settled(session.app_name, session.user_id, thread_id)
            await super().append_event(session, event)
            session.last_update_time = event.timestamp
        return event

    async def _add(self, session: Session, thread_id: str, event: Event) -> None:
        """Store an event as the one that comes after the newest one that the session knows.

        Its key says so: of two events that come after the same one, the database takes the first.
        """
        user_id, marker = session.user_id, session._storage_update_marker
        if marker is None:  # the session is not one that this service has returned
            newest = await self._newest(user_id, thread_id)
            marker = _marker(newest)
            known = session.events[-1].id if session.events else None
            if (newest and _event_id(newest)) != known:
                raise _stale()
        messages = messages_of(event)
        for place, message in enumerate(messages):
            message["idempotency_key"] = _key("after", marker, place)
        agent_id = self._agent_id or session.app_name
        try:
            first, *_ = await self._memory.add_messages(user_id, thread_id, messages, agent_id=agent_id)
            if first.seq is None:  # what came after that event was forgotten, and its key is not used again
                for place, message in enumerate(messages):
                    message["idempotency_key"] = _key("is", event.id, place)
                first, *_ = await self._memory.add_messages(user_id, thread_id, messages, agent_id=agent_id)
        except ConflictError:
            raise _stale() from None
        session._storage_update_marker = event.id
        if first.seq is None:  # the agent's policy keeps no messages
            return
        # Another event may have the same role and text, and so pass for this one.
        [kept] = await self._memory.get_messages(
            user_id, thread_id, after_seq=first.seq - 1, before_seq=first.seq + 1, include_inactive=True
        )
        if id_of(kept) != event.id:
            session._storage_update_marker = marker
            raise _stale()

    async def _newest(self, user_id: str, thread_id: str) -> Message | None:
        """The newest message of the thread that is an event, or goes on with one."""
        found = await self._memory.get_messages(user_id, thread_id, recent_k=1, include_inactive=True, filter={OWN: {}})
        return found[0] if found else None

    async def _events(self, user_id: str, thread_id: str, wanted: int | None) -> list[Event]:
        if wanted == 0:
            return []
        recent_k = wanted
        while True:
            messages = await self._memory.get_messages(user_id, thread_id, recent_k=recent_k, whole=True)
            events = events_of(messages)
            if wanted is None or recent_k is None:
                return events
            if len(events) >= wanted or len(messages) < recent_k:
                return events[-wanted:]
            recent_k *= 2  # some events are several messages

    async def _metadata(self, user_id: str, thread_id: str) -> dict[str, Any]:
        """The metadata of the thread of a session."""
        with suppress(NotFoundError):
            metadata = (await self._memory.get_thread(user_id, thread_id)).metadata
            if OWN in metadata:
                return metadata
        raise SessionNotFoundError(f"Session {thread_id.partition('/')[2]} not found.")

    async def _settled(self, app_name: str, user_id: str, thread_id: str) -> dict[str, Any]:
        """What the thread of a session says about it, once it says what all events have changed of the state.

        Whoever appended an event may have ended before that: then the next one who reads the session does it.
        """
        while True:
            metadata = await self._metadata(user_id, thread_id)
            own: dict[str, Any] = metadata[OWN]
            late = await self._memory.get_messages(
                user_id, thread_id, after_seq=own["upto"], filter={OWN: {"changes_state": True}}, include_inactive=True
            )
            if not late:
                return own
            delta: dict[str, Any] = {}
            for message in late:
                delta |= message.metadata[OWN]["event"]["actions"]["state_delta"]
            given = _scopes(delta)
            await self._merge_shared(app_name, user_id, given)
            settled = {**own, "state": {**own["state"], **given[""]}, "upto": late[-1].seq}
            if await self._replaced(user_id, thread_id, metadata, settled):
                return settled

    async def _merge_shared(self, app_name: str, user_id: str, given: Mapping[str, dict[str, Any]]) -> dict[str, Any]:
        """Merge state of the user and of the application, and return both with their prefixes."""
        shared: dict[str, Any] = {}
        for prefix, owner in _owners(app_name, user_id).items():
            state = await self._merge(owner, thread_of(app_name, ""), given[prefix])
            shared |= {prefix + name: value for name, value in state.items()}
        return shared

    async def _shared(self, app_name: str, user_id: str) -> dict[str, Any]:
        return await self._merge_shared(app_name, user_id, _scopes({}))

    async def _merge(self, owner: str, thread_id: str, delta: dict[str, Any]) -> dict[str, Any]:
        while True:
            metadata: dict[str, Any] = {}
            with suppress(NotFoundError):
                metadata = (await self._memory.get_thread(owner, thread_id)).metadata
            state = {**metadata.get(OWN, {}).get("shared", {}), **delta}
            if not delta or await self._replaced(owner, thread_id, metadata, {"shared": state}):
                return state

    async def _replaced(self, owner: str, thread_id: str, metadata: dict[str, Any], own: dict[str, Any]) -> bool:
        """Replace what a thread says about ADK, unless somebody else has changed its metadata meanwhile."""
        try:
            await self._memory.set_thread(owner, thread_id, metadata={**metadata, OWN: own}, expected_metadata=metadata)
        except RetryableError:
            return False
        return True

    async def _threads(self, user_id: str, app_name: str) -> AsyncIterator[Any]:
        offset = 0
        while page := await self._memory.list_threads(
            user_id, row_limit=_PAGE, row_offset=offset, filter={OWN: {"app_name": app_name}}
        ):
            for thread in page:
                yield thread
            offset += len(page)

    async def _users(self) -> AsyncIterator[str]:
        offset = 0
        while page := await self._admin.list_users(row_limit=_PAGE, row_offset=offset):
            for user in page:
                yield user.user_id
            offset += len(page)

    @asynccontextmanager
    async def _locked(self, key: _Key) -> AsyncIterator[None]:
        """Agents that run side by side append to the same object, one after the other."""
        lock = self._locks.get(key)
        if lock is None:
            self._locks[key] = lock = asyncio.Lock()
        async with lock:
            yield


def _owners(app_name: str, user_id: str) -> dict[str, str]:
    """Whose the state of a prefix is."""
    return {State.APP_PREFIX: f"app:{app_name}", State.USER_PREFIX: user_id}


def _scopes(state: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """State by its prefix, without it; that of the session under ""."""
    scopes: dict[str, dict[str, Any]] = {State.APP_PREFIX: {}, State.USER_PREFIX: {}, State.TEMP_PREFIX: {}, "": {}}
    for name, value in state.items():
        prefix = next(prefix for prefix in scopes if name.startswith(prefix))
        scopes[prefix][name[len(prefix) :]] = value
    return scopes


def _event_id(message: Message) -> str:
    return str(message.metadata[OWN].get("goes_on") or id_of(message))


def _key(what: str, event_id: str, place: int) -> str:
    """A key of a message. Keys are short, and ids of events are as long as an application makes them."""
    return f"adk-{what}-{uuid.uuid5(uuid.NAMESPACE_OID, event_id)}-{place}"


def _marker(newest: Message | None) -> str:
    """Names what a session knows: the newest event, or that there is none."""
    return _event_id(newest) if newest else "nothing"


def _stale() -> StaleSessionError:
    return StaleSessionError("The session has been changed since it was read: read it again, and append to that one.")
