"""Chat completions of OpenAI and of all that speak its protocol: contexts as messages, and calls that remember.

- ``to_openai`` makes messages of a context or of stored messages; ``Context.to_openai()`` calls it.
- ``from_openai`` makes of a message what ``add_messages`` stores.
- ``remembers`` wraps a function that calls the model: it loads the context, calls, and saves what was said.
"""

from __future__ import annotations

import inspect
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from itertools import takewhile
from typing import TYPE_CHECKING, Any, Protocol, cast

from ..errors import InvalidValueError

if TYPE_CHECKING:
    from openai.types.chat import ChatCompletionMessageParam

    from ..client import AsyncMemory, Memory


class Part(Protocol):
    """A part of a context, or a stored message."""

    @property
    def role(self) -> str: ...  # noqa: D102
    @property
    def content(self) -> str: ...  # noqa: D102
    @property
    def metadata(self) -> dict[str, Any]: ...  # noqa: D102


Said = str | Mapping[str, Any] | Sequence[Mapping[str, Any]] | None
"""The input of a call: a text of the user, a chat message, several of them (results of tools), or nothing."""

# Members of a message that memory.add_messages() knows beside role and content.
_MEMBERS = ("name", "tool_calls", "tool_call_id", "refusal", "annotations", "audio", "function_call")
_STORED = {"role", "content", "metadata", "created_at", "idempotency_key", *_MEMBERS}


def to_openai(parts: Iterable[Part]) -> list[ChatCompletionMessageParam]:
    """Return chat messages for a model, with tool calls and their results, names, and parts such as images.

    Providers refuse a call without its result and a result without its call, which a crash between the two leaves
    behind. So a call is left out that nothing answers. Calls at the end stay if none of them is answered yet: the
    results are still to come. A result without its call becomes a message of a user named "tool".

    Args:
        parts: a context, or messages of one thread, oldest first.
    """
    return cast("list[ChatCompletionMessageParam]", [message for _, message in sendable(parts)])


def sendable(parts: Iterable[Part]) -> Iterator[tuple[Part, dict[str, Any]]]:
    """Yield each part that a model is to read with its message, as ``to_openai`` describes."""
    said = _joined(parts)
    open_calls: set[str] = set()
    for place, (part, message) in enumerate(said):
        if part.role == "tool":
            if message.get("tool_call_id") in open_calls:
                open_calls.remove(message["tool_call_id"])
            else:
                message = {"role": "user", "name": "tool", "content": message["content"]}
        else:
            calls = message.pop("tool_calls", [])
            results = list(takewhile(lambda later: later[0].role == "tool", said[place + 1 :]))
            if place + 1 < len(said):
                answered = {result.get("tool_call_id") for _, result in results}
                calls = [call for call in calls if call["id"] in answered]
            open_calls = {call["id"] for call in calls}
            if calls:
                message["tool_calls"] = calls
            elif _is_empty(message):
                continue
        yield part, message


def _joined(parts: Iterable[Part]) -> list[tuple[Part, dict[str, Any]]]:
    """The messages of parts; calls that were stored one by one become one message, as providers want them."""
    said: list[tuple[Part, dict[str, Any]]] = []
    for part in parts:
        message = message_of(part)
        if "tool_calls" in message and not message["content"] and said and "tool_calls" in said[-1][1]:
            said[-1][1]["tool_calls"] = [*said[-1][1]["tool_calls"], *message["tool_calls"]]
        elif not _is_empty(message):
            said.append((part, message))
    return said


def _is_empty(message: dict[str, Any]) -> bool:
    """Whether a message of the assistant has nothing to read."""
    return message["role"] == "assistant" and not message["content"] and message.keys() <= {"role", "content", "name"}


def message_of(part: Part) -> dict[str, Any]:
    """Return the message of a part with the members that requests may have."""
    said = part.metadata
    message: dict[str, Any] = {"role": part.role, "content": part.content}
    if isinstance(said.get("content"), list) and said["content"]:
        message["content"] = said["content"]
    if part.role == "tool":
        return message | {name: said[name] for name in ("tool_call_id",) if name in said}
    if isinstance(said.get("name"), str):
        message["name"] = said["name"]
    if part.role == "assistant":
        message |= {name: said[name] for name in ("tool_calls", "refusal", "function_call") if said.get(name)}
        if "tool_calls" in message:
            message["content"] = message["content"] or None
        if isinstance(said.get("audio"), dict) and "id" in said["audio"]:
            message["audio"] = {"id": said["audio"]["id"]}
    return message


def from_openai(message: object) -> dict[str, Any]:
    """Return a message as ``add_messages`` takes it. Members that it does not know are kept in the metadata.

    Args:
        message: a dictionary, or a message of the package ``openai`` such as ``completion.choices[0].message``.

    Raises:
        InvalidValueError: message is neither.
    """
    if isinstance(message, Mapping):
        given = dict(message)
    elif hasattr(message, "model_dump"):
        given = message.model_dump(mode="json", exclude_unset=True)
    else:
        raise InvalidValueError(
            f"a message must be a dict or a message of openai, not {type(message).__name__}",
            hint='Pass {"role": "user", "content": "..."}, or completion.choices[0].message.',
        )
    given = {name: value for name, value in given.items() if value is not None}
    stored = {name: value for name, value in given.items() if name in _STORED}
    if extras := {name: value for name, value in given.items() if name not in _STORED}:
        stored["metadata"] = extras | dict(stored.get("metadata", {}))
    return stored


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
    from ..client import AsyncMemory

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
