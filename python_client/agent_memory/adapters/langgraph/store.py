"""A LangGraph store: every item is a memory of the user."""

from __future__ import annotations

import asyncio
import hashlib
import json
import operator
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any

from ...client import AsyncMemory, Memory
from ...errors import NotFoundError
from ...types import MemoryRecord, SearchResult
from ..clients import blocking, finished, needs

with needs("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        Item,
        ListNamespacesOp,
        MatchCondition,
        Op,
        PutOp,
        Result,
        SearchItem,
        SearchOp,
        TTLConfig,
        get_text_at_path,
        tokenize_path,
        validate_op_namespace,
    )

PAGE = 1000
"""Items that are read at once where the database cannot choose among them, and the most that a query ranks."""
MAX_BYTES = 200_000
"""Bytes of a value's texts that are searched; a memory has 256 KiB at most."""
REFRESHED_FROM = 0.1
"""The share of its time to live that must have passed before a read renews it: each renewal is a write."""

User = str | Callable[[tuple[str, ...]], str]
Found = MemoryRecord | SearchResult

_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "$eq": operator.eq,
    "$ne": operator.ne,
    "$gt": operator.gt,
    "$gte": operator.ge,
    "$lt": operator.lt,
    "$lte": operator.le,
}


class AgentMemoryStore(BaseStore):
    """A LangGraph store whose items are memories of agent_memory: found by meaning and words, with a history.

    An item is never evicted and never merged with another one, because each is the only memory of an agent that is
    named after its namespace and key. ``search`` with a query ranks by meaning and words, without an embedding model by
    words alone; items that the ranking does not find come last, with a score of 0. What is searched, and shown in
    contexts, are the texts of the item's value, of all fields or of those in ``index``; ``index=False`` leaves its key.

    Args:
        memory: the client. With Memory all methods work (the asynchronous ones in threads), with AsyncMemory only
            the asynchronous ones.
        user_id: whose memories the items are; a function of the namespace or prefix, such as ``lambda names:
            names[1]``, for a store that serves many users.
        index: the fields of values that are searched, as paths such as "text" or "facts[*].content"; None for all.
        ttl: how long items live, as for LangGraph's own stores. Expired items are never returned.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: User,
        *,
        index: list[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._memory = memory
        self._user_id = user_id
        self._index = index
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations one after the other.

        Raises:
            InvalidNamespaceError: a label is empty, no text, or has a period.
            InvalidValueError: a value cannot be stored as JSON.
            psycopg.Error: the database fails.
            TypeError: the client is an AsyncMemory.
        """
        return finished(self._executed(blocking(self._memory), ops))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations one after the other, as ``batch`` does."""
        if isinstance(self._memory, AsyncMemory):
            return await self._executed(self._memory, ops)
        return await asyncio.to_thread(self.batch, list(ops))

    async def _executed(self, memory: AsyncMemory, ops: Iterable[Op]) -> list[Result]:
        results: list[Result] = []
        for op in ops:
            validate_op_namespace(op)
            if isinstance(op, GetOp):
                results.append(await self._get(memory, op))
            elif isinstance(op, SearchOp):
                results.append(await self._search(memory, op))
            elif isinstance(op, PutOp):
                await self._put(memory, op)
                results.append(None)
            elif isinstance(op, ListNamespacesOp):
                results.append(await self._namespaces(memory, op))
            else:
                raise TypeError(f"unknown operation: {type(op).__name__}")
        return results

    def _user(self, namespace: tuple[str, ...]) -> str:
        return self._user_id(namespace) if callable(self._user_id) else self._user_id

    async def _get(self, memory: AsyncMemory, op: GetOp) -> Item | None:
        user_id = self._user(op.namespace)
        rows = await memory.list_memories(user_id, agent_id=_agent(op.namespace, op.key), row_limit=1)
        if not rows:
            return None
        if op.refresh_ttl:
            await _refresh(memory, user_id, rows[0])
        return Item(**_fields(rows[0]))

    async def _put(self, memory: AsyncMemory, op: PutOp) -> None:
        user_id, agent_id = self._user(op.namespace), _agent(op.namespace, op.key)
        stored = await memory.list_memories(user_id, agent_id=agent_id)
        if op.value is None:
            for row in stored:
                await memory.delete_memory(user_id, row.memory_id)
            return
        now = datetime.now(timezone.utc)
        content = _searched(op, self._index)
        metadata = {
            "langgraph": {
                "namespace": list(op.namespace),
                "under": [".".join(op.namespace[: depth + 1]) for depth in range(len(op.namespace))],
                "key": op.key,
                "value": op.value,
                "updated_at": now,
                **({} if op.ttl is None else {"ttl_minutes": op.ttl, "ttl_from": now}),
            }
        }
        expires_at = datetime.max if op.ttl is None else now + timedelta(minutes=op.ttl)
        if stored:
            try:
                await memory.update_memory(
                    user_id, stored[0].memory_id, content, metadata=metadata, expires_at=expires_at
                )
                return
            except NotFoundError:  # deleted or expired meanwhile
                pass
        await memory.add_memory(
            user_id,
            content,
            agent_id=agent_id,
            metadata=metadata,
            expires_at=expires_at,
            source="langgraph",
            on_conflict="replace",
        )
        # Another process may have put the item for the first time as well. All keep the newest.
        for row in (await memory.list_memories(user_id, agent_id=agent_id))[1:]:
            await memory.delete_memory(user_id, row.memory_id)

    async def _search(self, memory: AsyncMemory, op: SearchOp) -> list[SearchItem]:
        user_id = self._user(op.namespace_prefix)
        wanted, passed = op.filter or {}, 0
        items: list[SearchItem] = []
        if op.limit <= 0:
            return items
        async for found in _candidates(memory, user_id, op):
            if not _matches(_item(found)["value"], wanted):
                continue
            passed += 1
            if passed <= op.offset:
                continue
            if op.refresh_ttl:
                await _refresh(memory, user_id, found)
            score = found.score if isinstance(found, SearchResult) else 0.0
            items.append(SearchItem(**_fields(found), score=score if op.query else None))
            if len(items) == op.limit:
                break
        return items

    async def _namespaces(self, memory: AsyncMemory, op: ListNamespacesOp) -> list[tuple[str, ...]]:
        conditions = op.match_conditions or ()
        prefixes = (tuple(c.path) for c in conditions if c.match_type == "prefix" and "*" not in c.path)
        prefix = next(prefixes, ())
        namespaces = set()
        async for row in _listed(memory, self._user(prefix), _containment(prefix)):
            namespace = tuple(_item(row)["namespace"])
            if all(_is_under(namespace, condition) for condition in conditions):
                namespaces.add(namespace[: op.max_depth])
        return sorted(namespaces)[op.offset : op.offset + op.limit]


def _agent(namespace: tuple[str, ...], key: str) -> str:
    """The agent whose only memory is the item."""
    name = json.dumps([*namespace, key], ensure_ascii=False)
    return name if len(name) <= 255 else "langgraph " + hashlib.sha256(name.encode()).hexdigest()


def _item(found: Found) -> dict[str, Any]:
    item: dict[str, Any] = found.metadata["langgraph"]
    return item


def _fields(found: Found) -> dict[str, Any]:
    """The arguments of an Item."""
    item = _item(found)
    return {
        "value": item["value"],
        "key": item["key"],
        "namespace": tuple(item["namespace"]),
        "created_at": found.created_at,
        "updated_at": datetime.fromisoformat(item["updated_at"]),
    }


async def _refresh(memory: AsyncMemory, user_id: str, found: Found) -> None:
    """Let an item that is read live on, if it has a time to live."""
    item, now = _item(found), datetime.now(timezone.utc)
    if "ttl_minutes" not in item:
        return
    ttl = timedelta(minutes=item["ttl_minutes"])
    if now - datetime.fromisoformat(item["ttl_from"]) >= ttl * REFRESHED_FROM:
        memory_id = found.id if isinstance(found, SearchResult) else found.memory_id
        metadata = {"langgraph": {**item, "ttl_from": now}}
        with suppress(NotFoundError):  # expired or deleted meanwhile
            await memory.update_memory(user_id, memory_id, metadata=metadata, expires_at=now + ttl)


def _searched(op: PutOp, index: list[str] | None) -> str:
    """The text that is searched: the texts at the paths of the index, or all of the value; at least the key."""
    paths = index if op.index is None else op.index or []
    if paths is None:
        lines = list(_lines(op.value, ""))
        texts = [text for _, text in lines] if len(lines) == 1 else [f"{name}: {text}" for name, text in lines]
    else:
        texts = [text for path in paths for text in get_text_at_path(op.value, tokenize_path(path))]
    content = "\n".join(texts) if any(text.strip() for text in texts) else f"{'.'.join(op.namespace)} {op.key}"
    return content.encode()[:MAX_BYTES].decode(errors="ignore")


def _lines(value: Any, name: str) -> Iterator[tuple[str, str]]:
    """Each text and number in a value with the name of its field."""
    if isinstance(value, Mapping):
        for key, member in value.items():
            yield from _lines(member, str(key))
    elif isinstance(value, (list, tuple)):
        for member in value:
            yield from _lines(member, name)
    elif value is not None:
        yield name, str(value)


async def _candidates(memory: AsyncMemory, user_id: str, op: SearchOp) -> AsyncIterator[Found]:
    """Items under the prefix, as far as the database can choose; first those that answer the query, then the newest."""
    filter_ = _containment(op.namespace_prefix, op.filter)
    page = min(op.offset + op.limit, PAGE)
    answers: set[str] = set()
    if op.query:
        top_k = page if filter_["langgraph"].get("value", {}) == (op.filter or {}) else PAGE
        for found in await memory.search(user_id, op.query, sources=["memory"], filter=filter_, top_k=top_k):
            answers.add(found.id)
            yield found
    async for row in _listed(memory, user_id, filter_, page):
        if str(row.memory_id) not in answers:
            yield row


async def _listed(
    memory: AsyncMemory, user_id: str, filter_: dict[str, Any], page: int = PAGE
) -> AsyncIterator[MemoryRecord]:
    offset = 0
    while rows := await memory.list_memories(user_id, filter=filter_, row_limit=page, row_offset=offset):
        for row in rows:
            yield row
        if len(rows) < page:
            break
        page, offset = PAGE, offset + len(rows)


def _containment(prefix: tuple[str, ...], wanted: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """What the metadata of items has under a prefix, with those of the wanted values that the database can compare."""
    plain = {name: value for name, value in (wanted or {}).items() if isinstance(value, (str, int, float))}
    under = {"under": [".".join(prefix)]} if prefix else {}
    return {"langgraph": {**under, "value": plain} if plain else under}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value is what a filter wants; a dict in a filter holds operators, or what a part must be.

    Raises:
        ValueError: an operator is unknown.
    """
    if not isinstance(wanted, Mapping):
        return bool(value == (list(wanted) if isinstance(wanted, tuple) else wanted))
    if any(name.startswith("$") for name in wanted):
        return all(_compares(value, name, operand) for name, operand in wanted.items())
    return isinstance(value, Mapping) and all(_matches(value.get(name), part) for name, part in wanted.items())


def _compares(value: Any, name: str, operand: Any) -> bool:
    if name not in _OPERATORS:
        raise ValueError(f"unknown operator: {name}; known are {', '.join(_OPERATORS)}")
    try:
        return bool(_OPERATORS[name](value, operand))
    except TypeError:  # a text and a number, or a field that the item does not have
        return False


def _is_under(namespace: tuple[str, ...], condition: MatchCondition) -> bool:
    path = condition.path
    part = namespace[: len(path)] if condition.match_type == "prefix" else namespace[-len(path) :]
    return len(part) == len(path) and all(label in (name, "*") for label, name in zip(path, part, strict=True))
