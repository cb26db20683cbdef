"""Chat completions of OpenAI and of all that speak its protocol: contexts as messages, and calls that remember.

- ``to_openai`` makes messages of a context or of stored messages; ``Context.to_openai()`` calls it.
- ``from_openai`` makes of a message what ``add_messages`` stores.
- ``remembers`` wraps a function that calls the model: it loads the context, calls, and saves what was said.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, cast

from ..chat_messages import from_openai, to_openai
from ..client import AsyncMemory, Memory

__all__ = ["from_openai", "remembers", "to_openai"]

Said = str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""The input of a call: a text of the user, a chat message, several of them (results of tools), or nothing."""


def remembers(
    memory: AsyncMemory | Memory, *, agent_id: str | None = None, max_tokens: int | None = None
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

    Args:
        memory: the client; an asynchronous one for coroutine functions, Memory for the others.
        agent_id: the agent that speaks, whose policy and memories count; None is the database's default.
        max_tokens: the most that the messages may have; None takes the policy's ``context.max_tokens``.

    Returns:
        A decorator for a function that returns a completion, a message of one, a text, or the stream of a completion.
        A stream is passed on chunk by chunk; its message is stored when it ends.

    Raises:
        TypeError: a coroutine function with Memory, or another one with AsyncMemory.
        InvalidValueError: what is said or returned is no message.
        psycopg.Error: the database fails; the errors of the model are raised as they are.
    """

    def decorate(function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(memory, AsyncMemory) != inspect.iscoroutinefunction(function):
            raise TypeError("AsyncMemory goes with coroutine functions, Memory with the others")

        @wraps(function)
        def call(user_id: str, thread_id: str, said: Said = None, *arguments: Any, **options: Any) -> Any:
            if messages := _messages_of(said):
                memory.add_messages(user_id, thread_id, messages, agent_id=agent_id)
            context = memory.get_context(user_id, thread_id, agent_id=agent_id, max_tokens=max_tokens)
            reply = function(context.to_openai(), *arguments, **options)  # type: ignore[union-attr]

            def save(stored: dict[str, Any]) -> None:
                memory.add_messages(user_id, thread_id, [stored], agent_id=agent_id)

            if isinstance(reply, Iterator):
                return _saved_at_the_end(reply, save)
            save(_reply_of(reply))
            return reply

        @wraps(function)
        async def call_async(user_id: str, thread_id: str, said: Said = None, *arguments: Any, **options: Any) -> Any:
            client = cast("AsyncMemory", memory)
            if messages := _messages_of(said):
                await client.add_messages(user_id, thread_id, messages, agent_id=agent_id)
            context = await client.get_context(user_id, thread_id, agent_id=agent_id, max_tokens=max_tokens)
            reply = await function(context.to_openai(), *arguments, **options)

            async def save(stored: dict[str, Any]) -> None:
                await client.add_messages(user_id, thread_id, [stored], agent_id=agent_id)

            if isinstance(reply, AsyncIterator):
                return _saved_at_the_end_async(reply, save)
            await save(_reply_of(reply))
            return reply

        return call_async if isinstance(memory, AsyncMemory) else call

    return decorate


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


def _saved_at_the_end(chunks: Iterator[Any], save: Callable[[dict[str, Any]], None]) -> Iterator[Any]:
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    for chunk in chunks:
        state.handle_chunk(chunk)
        yield chunk
    save(_reply_of(state.current_completion_snapshot))


async def _saved_at_the_end_async(chunks: AsyncIterator[Any], save: Callable[[dict[str, Any]], Any]) -> Any:
    from openai.lib.streaming.chat import ChatCompletionStreamState

    state: ChatCompletionStreamState[Any] = ChatCompletionStreamState()
    async for chunk in chunks:
        state.handle_chunk(chunk)
        yield chunk
    await save(_reply_of(state.current_completion_snapshot))
