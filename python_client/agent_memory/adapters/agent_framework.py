"""Microsoft Agent Framework: the history of a session is a thread, and what is known about the user is its context."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from ..chat_messages import Part, function_of
from ..client import AsyncMemory, Memory
from .clients import asynchronous, needs

with needs("agent-framework"):
    from agent_framework import ContextProvider, HistoryProvider, Message

if TYPE_CHECKING:
    from agent_framework import AgentSession, SessionContext, SupportsAgentRun

_OWN = "agent_framework"
_OF_THE_THREAD = {"instructions", "message", "thread_summary"}
"""Parts of a context that the history of the session has."""


class _OfThread:
    """What both providers know: the client and the thread."""

    def __init__(self, memory: AsyncMemory | Memory, user_id: str, thread_id: str | None, agent_id: str | None) -> None:
        self._memory = asynchronous(memory)
        self._user_id = user_id
        self._thread_id = thread_id
        self._agent_id = agent_id

    def _thread(self, session_id: str | None) -> str:
        thread_id = self._thread_id or session_id
        if not thread_id:
            raise ValueError("name the thread: pass thread_id, or run the agent with a session")
        return thread_id

    async def _store(self, session_id: str | None, messages: Iterable[Message]) -> None:
        stored = [said for message in messages for said in from_agent_framework(message)]
        if stored:
            await self._memory.add_messages(self._user_id, self._thread(session_id), stored, agent_id=self._agent_id)


class AgentMemoryMessageStore(_OfThread, HistoryProvider):
    """A history provider: ``Agent(client, context_providers=[AgentMemoryMessageStore(memory, "ana")])``.

    Messages come back as they were added, with all their contents. For agent_memory they are messages, calls of tools
    and their results. Of a transcript that a caller passes again only what is new is stored. Errors of the database
    are psycopg's.

    Args:
        memory: the client, asynchronous or not.
        user_id: whose conversations they are.
        thread_id: the thread; None is the id of the session.
        agent_id: the agent that speaks, whose policy counts; None is the database's default.
        source_id: the framework's name of this provider.
        options: what else HistoryProvider takes, such as ``load_messages`` and ``store_outputs``.
    """

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: str,
        thread_id: str | None = None,
        agent_id: str | None = None,
        *,
        source_id: str = "agent_memory_history",
        **options: Any,
    ) -> None:
        _OfThread.__init__(self, memory, user_id, thread_id, agent_id)
        HistoryProvider.__init__(self, source_id, **options)

    async def get_messages(
        self,
        session_id: str | None,
        *,
        state: dict[str, Any] | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> list[Message]:
        """Return the messages of the session, oldest first."""
        return to_agent_framework(await self._memory.get_messages(self._user_id, self._thread(session_id), whole=True))

    async def save_messages(
        self,
        session_id: str | None,
        messages: Sequence[Message],
        *,
        state: dict[str, Any] | None = None,  # noqa: ARG002
        **kwargs: Any,  # noqa: ARG002
    ) -> None:
        """Append messages, all or none."""
        await self._store(session_id, _new(await self.get_messages(session_id), messages))


class AgentMemoryProvider(_OfThread, ContextProvider):
    """A context provider: what is known about the user, before the history of the session.

    ``Agent(client, context_providers=[AgentMemoryProvider(memory, "ana"), AgentMemoryMessageStore(memory, "ana")])``.
    Before a run it adds memories of the user, what was said before about the newest question, and summaries. After a
    run it stores what was said, so that memories are learnt from it, unless an AgentMemoryMessageStore does.

    Args:
        memory: the client, asynchronous or not.
        user_id: whose memories they are.
        thread_id: the thread; None is the id of the session.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
        max_tokens: the most that is added; None takes the policy's ``context.max_tokens``.
        source_id: the framework's name of this provider.
    """

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: str,
        thread_id: str | None = None,
        agent_id: str | None = None,
        *,
        max_tokens: int | None = None,
        source_id: str = "agent_memory",
    ) -> None:
        _OfThread.__init__(self, memory, user_id, thread_id, agent_id)
        ContextProvider.__init__(self, source_id)
        self._max_tokens = max_tokens

    async def before_run(
        self,
        *,
        agent: SupportsAgentRun,  # noqa: ARG002
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002
    ) -> None:
        """Add what is known to the context."""
        asked = [message.text for message in context.input_messages if message.role == "user" and message.text]
        parts = await self._memory.get_context(
            self._user_id,
            self._thread(session.session_id),
            query=asked[-1] if asked else None,
            agent_id=self._agent_id,
            max_tokens=self._max_tokens,
        )
        known = [Message(part.role, [part.content]) for part in parts if part.source not in _OF_THE_THREAD]
        context.extend_messages(self, known)

    async def after_run(
        self,
        *,
        agent: SupportsAgentRun,
        session: AgentSession,
        context: SessionContext,
        state: dict[str, Any],  # noqa: ARG002
    ) -> None:
        """Store what was asked and answered, unless somebody else does."""
        providers = getattr(agent, "context_providers", [])
        if not any(isinstance(provider, AgentMemoryMessageStore) for provider in providers):
            answered = list(context.response.messages) if context.response else []
            await self._store(session.session_id, [*context.input_messages, *answered])


def from_agent_framework(message: Message) -> list[dict[str, Any]]:
    """Return a message as ``add_messages`` takes it: one, or one for each result of a tool.

    The first one's metadata has all that ``to_agent_framework`` needs; texts and results are not kept twice.
    """
    dumped = message.to_dict()
    contents = dumped["contents"]
    named = {"name": message.author_name} if message.author_name else {}
    if results := _of_type(contents, "function_result"):
        said = [
            {"role": "tool", "content": _taken(result), "tool_call_id": result.get("call_id", "")} for result in results
        ]
    else:
        texts = _of_type(contents, "text")
        text = "\n".join(part["text"] for part in texts)
        if len(texts) == 1:
            texts[0]["text"] = ""
        calls = [
            {
                "id": call["call_id"],
                "type": "function",
                "function": {"name": call["name"], "arguments": _json(call.get("arguments"))},
            }
            for call in _of_type(contents, "function_call")
        ]
        said = [{"role": message.role, "content": text, **named, **({"tool_calls": calls} if calls else {})}]
    for place, stored in enumerate(said):
        stored["metadata"] = {_OWN: {"message": dumped} if place == 0 else {"goes_on": True}}
    return said


def to_agent_framework(parts: Iterable[Part]) -> list[Message]:
    """Return the messages that were stored; what somebody else has stored becomes a message of its role."""
    groups: list[list[Part]] = []
    for part in parts:
        if groups and part.metadata.get(_OWN, {}).get("goes_on"):
            groups[-1].append(part)
        else:
            groups.append([part])
    return [_restored(group) for group in groups]


def _restored(group: list[Part]) -> Message:
    first = group[0]
    dumped = first.metadata.get(_OWN, {}).get("message")
    if dumped is None:
        return _of_others(first)
    contents = dumped["contents"]
    if results := _of_type(contents, "function_result"):
        for result, part in zip(results, group, strict=False):
            for place in [result, *result.get("items", [])]:
                for name in ("result", "text"):
                    if place.get(name) is None and name in place:
                        place[name] = part.content
    elif len(texts := _of_type(contents, "text")) == 1:
        texts[0]["text"] = first.content
    return Message.from_dict(dumped)


def _of_others(part: Part) -> Message:
    if part.role == "tool":
        call_id = part.metadata.get("tool_call_id", "")
        return Message("tool", [{"type": "function_result", "call_id": call_id, "result": part.content}])
    calls = [
        {"type": "function_call", "call_id": call.get("id", ""), **function_of(call)}
        for call in part.metadata.get("tool_calls", [])
    ]
    return Message(part.role, [*([part.content] if part.content or not calls else []), *calls])


def _taken(result: dict[str, Any]) -> str:
    """Take the text of a result out of it, and return it: None stands there."""
    text = str(result.get("result") or "")
    for place in [result, *result.get("items", [])]:
        for name in ("result", "text"):
            if place.get(name) == text:
                place[name] = None
    return text


def _of_type(contents: list[dict[str, Any]], kind: str) -> list[dict[str, Any]]:
    return [content for content in contents if content["type"] == kind]


def _json(arguments: Any) -> str:
    return arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)


def _new(known: Sequence[Message], given: Sequence[Message]) -> list[Message]:
    """Messages without those at their beginning that end what is known: callers may pass a transcript again.

    One message of the user alone may as well be said twice, so it is new unless its id is known.
    """
    former, passed = [_identity(message) for message in known], [_identity(message) for message in given]
    for overlap in range(min(len(former), len(passed)), 0, -1):
        is_said_twice = overlap == 1 and given[0].role == "user" and not given[0].message_id
        if former[-overlap:] == passed[:overlap] and not is_said_twice:
            return list(given[overlap:])
    return list(given)


def _identity(message: Message) -> str:
    return message.message_id or json.dumps([message.role, message.to_dict()["contents"]], sort_keys=True)
