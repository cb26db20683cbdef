"""Chat completions of OpenAI and of all that speak its protocol: contexts as messages, and calls that remember.

- ``to_openai`` makes messages of a context or of stored messages; ``Context.to_openai()`` calls it.
- ``from_openai`` makes of a message what ``add_messages`` stores.
- ``remembers`` wraps a function that calls the model: it loads the context, calls, and saves what was said.
"""

from __future__ import annotations

import inspect
import logging
import uuid
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import wraps
from typing import Any

import psycopg

from ..chat_messages import from_openai, to_openai
from ..client import AsyncMemory, Memory
from ..errors import DegradedWarning, RetryableError
from .clients import blocking, finished

__all__ = ["from_openai", "remembers", "to_openai"]

logger = logging.getLogger("agent_memory")

Said = str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""The input of a call: a text of the user, a chat message, several of them (results of tools), or nothing."""


def remembers(
    memory: AsyncMemory | Memory,
    *,
    agent_id: str | None = None,
    max_tokens: int | None = None,
    empty_on_failure: bool = False,
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function that calls a model remember: a decorator.

    The function takes the messages to send and returns what the model says. Decorated, it takes ``user_id``,
    ``thread_id`` and ``said`` in their place; further arguments are passed on. A call stores what is said, builds the
    context, calls the function, stores the reply, and returns what the function has returned::

        @remembers(memory)
        def answer(messages):
            return client.chat.completions.create(model="gpt-4.1-mini", messages=messages)

        completion = answer("ana", "monday", "Book the journey to Porto!")

    Where the reply calls tools, call it again and say their results, a list of messages with the role tool. Where the
    model failed, call it again and say nothing (None): what was said is stored already.

    A reply that cannot be stored is returned all the same, because the model was paid: the failure is logged as an
    error of ``agent_memory``, and a DegradedWarning says so.

    Args:
        memory: the client; an asynchronous one for coroutine functions, Memory for the others.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
        max_tokens: the most that the messages may have; None takes the policy's ``context.max_tokens``.
        empty_on_failure: send what is said without memories and earlier messages where the database is out of reach or
            fails before the model is called, instead of raising. What was not stored then is stored with the reply, if
            the database is back by that time. The failure is logged as an error of ``agent_memory``.

    Returns:
        A decorator for a function that returns a completion, a message of one, a text, or the stream of a completion.
        A stream is passed on chunk by chunk; its message is stored when it ends.

    Raises:
        TypeError: a coroutine function with Memory, or another one with AsyncMemory.
        InvalidValueError: what is said is no message.
        psycopg.Error: the database fails before the model is called, unless ``empty_on_failure`` is set; the errors of
            the model are raised as they are.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(memory, AsyncMemory) != inspect.iscoroutinefunction(function):
            raise TypeError("AsyncMemory goes with coroutine functions, Memory with the others")
        either = memory if isinstance(memory, AsyncMemory) else blocking(memory)

        @wraps(function)
        def call(user_id: str, thread_id: str, said: Said = None, *arguments: Any, **options: Any) -> Any:
            turn = _Turn(either, user_id, thread_id, agent_id)
            reply = function(finished(turn.begin(said, max_tokens, empty_on_failure)), *arguments, **options)
            if isinstance(reply, Iterator):
                return turn.passed_on(reply)
            finished(turn.end(lambda: _reply_of(reply)))
            return reply

        @wraps(function)
        async def call_async(user_id: str, thread_id: str, said: Said = None, *arguments: Any, **options: Any) -> Any:
            turn = _Turn(either, user_id, thread_id, agent_id)
            reply = await function(await turn.begin(said, max_tokens, empty_on_failure), *arguments, **options)
            if isinstance(reply, AsyncIterator):
                return turn.passed_on_async(reply)
            await turn.end(lambda: _reply_of(reply))
            return reply

        return call_async if isinstance(memory, AsyncMemory) else call

    return decorate


class _Turn:
    """What one call of the model stores in a thread: what is said, and then the reply."""

    def __init__(self, memory: AsyncMemory, user_id: str, thread_id: str, agent_id: str | None) -> None:
        self._memory = memory
        self._thread = (user_id, thread_id)
        self._agent_id = agent_id
        self._unsaved: list[dict[str, Any]] = []

    async def begin(self, said: Said, max_tokens: int | None, empty_on_failure: bool) -> list[Any]:
        """Store what is said, and return the messages to send."""
        messages = _messages_of(said)
        if empty_on_failure:
            # A message whose storing failed may be stored all the same; under its key it is not stored twice.
            messages = [{"idempotency_key": str(uuid.uuid4()), **message} for message in messages]
        self._unsaved = messages
        try:
            await self._save([])
            context = await self._memory.get_context(*self._thread, agent_id=self._agent_id, max_tokens=max_tokens)
            return context.to_openai()
        except (psycopg.Error, RetryableError) as error:
            if not empty_on_failure or not messages:
                raise
            logger.error("Thread %r has no memory in this call: %s", self._thread[1], error)
            return to_openai(map(_Unsaved, messages))

    async def end(self, reply: Callable[[], dict[str, Any]]) -> None:
        """Store the reply. The model was paid, so nothing that is wrong with it or the database is raised."""
        try:
            await self._save([reply()])
        except Exception as error:
            logger.error("A reply was not stored in thread %r: %s", self._thread[1], error)
            with suppress(DegradedWarning):  # raised where warnings are errors
                warnings.warn(
                    DegradedWarning(f"the reply was not stored in thread {self._thread[1]!r}: {error}"), stacklevel=4
                )

    async def _save(self, messages: list[dict[str, Any]]) -> None:
        if self._unsaved or messages:
            await self._memory.add_messages(*self._thread, [*self._unsaved, *messages], agent_id=self._agent_id)
            self._unsaved = []

    def passed_on(self, chunks: Iterator[Any]) -> Iterator[Any]:
        passed = []
        for chunk in chunks:
            passed.append(chunk)
            yield chunk
        finished(self.end(lambda: _reply_of(_completion(passed))))

    async def passed_on_async(self, chunks: AsyncIterator[Any]) -> AsyncIterator[Any]:
        passed = []
        async for chunk in chunks:
            passed.append(chunk)
            yield chunk
        await self.end(lambda: _reply_of(_completion(passed)))


class _Unsaved:
    """A message that could not be stored, as a part of a context."""

    def __init__(self, message: dict[str, Any]) -> None:
        content = message.get("content")
        self.role = str(message.get("role"))
        self.content = content if isinstance(content, str) else ""
        self.metadata = message


def _messages_of(said: Said) -> list[dict[str, Any]]:
    if said is None:
        return []
    if isinstance(said, str):
        return [{"role": "user", "content": said}]
    return [from_openai(message) for message in ([said] if isinstance(said, Mapping) else said)]


def _reply_of(reply: Any) -> dict[str, Any]:
    """The stored form of a reply: its message, with the model and the id of the completion in the metadata."""
    if isinstance(reply, str):
        return {"role": "assistant", "content": reply}
    if not hasattr(reply, "choices"):
        return from_openai(reply)
    stored = from_openai(reply.choices[0].message)
    for call in stored.get("tool_calls", []):
        # Parsed arguments and places belong to the helpers of openai: providers refuse them.
        call.pop("index", None)
        call.get("function", {}).pop("parsed_arguments", None)
    stored["role"] = "assistant"  # some providers repeat the role in each chunk of a stream
    stored["metadata"] = {"model": reply.model, "completion_id": reply.id, **stored.get("metadata", {})}
    return stored


def _completion(chunks: list[Any]) -> Any:
    """The completion of which a stream has sent the chunks."""
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
    return state.current_completion_snapshot
