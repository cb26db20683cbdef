"""A span for each call of the client that stores, searches, changes or deletes what is remembered.

The methods of both clients are replaced while this is switched on, so that others cost nothing.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from typing import Any

from opentelemetry.trace import Span, SpanKind, get_current_span, set_span_in_context
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from psycopg import ConnectionInfo

from .. import _hooks
from ..client import AsyncBuffer, AsyncMemory, Buffer, Memory
from .instruments import OPERATION, captures_content, measured

OPERATIONS = {
    "create_memory": (
        *("add_message", "add_messages", "add_memory", "add_memories", "add_document"),
        *("store_artifact", "add_artifact_piece", "copy_thread"),
    ),
    "search_memory": ("search", "get_context", "render_memories"),
    "update_memory": (
        *("update_memory", "supersede_memory", "end_memory", "restore_memory"),
        *("quarantine_memory", "release_memory", "quarantine_source", "release_source", "use_files"),
    ),
    "delete_memory": (
        *("delete_memory", "delete_memories", "delete_message", "delete_messages", "clear_thread", "delete_thread"),
        *("delete_document", "delete_documents", "delete_artifact", "forget_memory", "forget_user"),
    ),
}
"""The methods by the operation of the conventions that they are."""
REQUESTS = (
    *("summarize_thread", "compress_thread", "extract_memories", "summarize_user", "reconcile_memories"),
    "consolidate",
)
"""The methods that ask for a job: the job is linked to the caller's own span."""
_LISTS = {"add_messages": "messages", "add_memories": "memories", "delete_memories": "memory_ids"}
"""The argument that lists what a call is about; that of ``delete_memories`` may be left out."""
_ONE = (
    *("add_message", "add_memory", "add_document", "store_artifact"),
    *("update_memory", "delete_memory", "delete_message", "delete_document", "delete_artifact"),
)

_writes: ContextVar[Span | None] = ContextVar("agent_memory_writes", default=None)
"""The span to which jobs are linked that the calls inside make due."""
_operation: ContextVar[Span | None] = ContextVar("agent_memory_operation", default=None)
"""The span of the call that is under way."""
_propagator = TraceContextTextMapPropagator()
_replaced: list[tuple[type, str]] = []


def join_in() -> None:
    """Replace the methods of both clients."""
    _hooks.traceparent = _traceparent
    if _replaced:
        return
    for client in (Memory, AsyncMemory):
        for operation, names in OPERATIONS.items():
            for name in names:
                _replace(client, name, operation)
        for name in REQUESTS:
            _replace(client, name, None)
    for buffer in (Buffer, AsyncBuffer):
        _replace(buffer, "push", "create_memory")


def leave() -> None:
    """Put the methods back."""
    _hooks.traceparent = None
    for owner, name in _replaced:
        original = inspect.getattr_static(owner, name).__wrapped__
        if name == "push":
            setattr(owner, name, original)
        else:
            delattr(owner, name)  # the method is inherited
    _replaced.clear()


@contextmanager
def carried(span: Span) -> Iterator[None]:
    """Have the jobs that calls inside make due linked to a span."""
    token = _writes.set(span)
    try:
        yield
    finally:
        _writes.reset(token)


def _traceparent(info: ConnectionInfo) -> str | None:
    """Say in the span of a call which server it reached, and return what its statement carries."""
    span = _operation.get()
    if span is not None and span.is_recording():  # jobs that a search has begun may outlast it
        span.set_attributes({"server.address": info.host, "server.port": info.port, "db.namespace": info.dbname})
    writes = _writes.get()
    if writes is None or not writes.is_recording():
        return None
    carrier: dict[str, str] = {}
    _propagator.inject(carrier, set_span_in_context(writes))
    return carrier.get("traceparent")


def _replace(owner: type, name: str, operation: str | None) -> None:
    original = getattr(owner, name)
    names = [*inspect.signature(original).parameters][1:]
    around = _around(name, operation)

    @wraps(original)
    def call(self: Any, *arguments: Any, **named: Any) -> Any:
        with around({**dict(zip(names, arguments, strict=False)), **named}) as done:
            result = original(self, *arguments, **named)
            done(result)
            return result

    @wraps(original)
    async def call_async(self: Any, *arguments: Any, **named: Any) -> Any:
        with around({**dict(zip(names, arguments, strict=False)), **named}) as done:
            result = await original(self, *arguments, **named)
            done(result)
            return result

    setattr(owner, name, call_async if inspect.iscoroutinefunction(original) else call)
    _replaced.append((owner, name))


def _around(name: str, operation: str | None) -> Callable[[Mapping[str, Any]], Any]:
    """Return what goes around a call, takes its arguments and yields what takes its result."""

    @contextmanager
    def requested(_: Mapping[str, Any]) -> Iterator[Callable[[Any], None]]:
        with carried(get_current_span()):
            yield lambda _: None

    @contextmanager
    def performed(given: Mapping[str, Any]) -> Iterator[Callable[[Any], None]]:
        of_metric = {OPERATION: operation, "agent_memory.function": name}
        attributes = {**of_metric, "db.system.name": "postgresql", **_described(name, given)}
        with measured(str(operation), SpanKind.CLIENT, attributes, of_metric) as span:
            token = _operation.set(span)
            try:
                if operation == "search_memory":
                    yield lambda result: _describe_found(span, result)
                else:
                    with carried(span):
                        yield lambda _: None
            finally:
                _operation.reset(token)

    return requested if operation is None else performed


def _described(name: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the attributes that follow from the arguments of a call; the call refuses those of another type."""
    attributes: dict[str, Any] = {}
    if isinstance(given.get("agent_id"), str):
        attributes["gen_ai.agent.id"] = given["agent_id"]
    if given.get("memory_id") is not None:
        attributes["gen_ai.memory.record.id"] = str(given["memory_id"])
    listed = given.get(_LISTS.get(name, ""))
    if isinstance(listed, Sequence):
        attributes["gen_ai.memory.record.count"] = len(listed)
    elif name in _ONE:
        attributes["gen_ai.memory.record.count"] = 1
    if captures_content():
        for argument, attribute in (
            ("user_id", "user.id"),
            ("thread_id", "gen_ai.conversation.id"),
            ("query", "gen_ai.memory.query.text"),
        ):
            if isinstance(given.get(argument), str):
                attributes[attribute] = given[argument]
        if given.get("content") is not None:
            attributes["gen_ai.memory.records"] = _as_json([{"content": given["content"]}])
        elif isinstance(listed, Sequence) and name != "delete_memories":
            attributes["gen_ai.memory.records"] = _as_json(listed)
    return attributes


def _describe_found(span: Span, result: Any) -> None:
    """Say in the span of a search what it has found: results, the parts of a context, or a text."""
    found = [result] if isinstance(result, str) else result
    span.set_attribute("gen_ai.memory.record.count", len(found))
    if captures_content():
        records = [
            {"content": each}
            if isinstance(each, str)
            else {
                field: value
                for field in ("id", "content", "score", "source")
                if (value := getattr(each, field, None)) is not None
            }
            for each in found
        ]
        span.set_attribute("gen_ai.memory.records", _as_json(records))


def _as_json(records: Sequence[Any]) -> str:
    return json.dumps(records, default=str, ensure_ascii=False)
