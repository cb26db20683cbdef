"""A LangGraph store: every item is a memory of the user."""

from __future__ import annotations

import asyncio
import hashlib
import json
import math
import operator
from collections.abc import AsyncIterator, Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, timedelta, timezone
from typing import Any, cast

from ...client import AsyncMemory, Memory
from ...errors import NotFoundError
from ...types import MemoryRecord, SearchResult
from ..clients import blocking, finished, needs
from .vectors import Embedded, Embedder

with needs("langgraph"):
    from langgraph.store.base import (
        BaseStore,
        GetOp,
        IndexConfig,
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
        validate_op_namespace,
    )
    from langgraph.store.base.batch import AsyncBatchedBaseStore

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

    With ``embed`` in ``index`` the store ranks as LangGraph's own stores do: by the cosine similarity of the query and
    the nearest of an item's texts, both embedded by that function; items without embeddings come last and have no
    score. The embeddings are kept with the item and compared in this process, so a search reads all that the prefix and
    the filter leave.

    Args:
        memory: the client. With Memory all methods work (the asynchronous ones in threads), with AsyncMemory only
            the asynchronous ones.
        user_id: whose memories the items are; a function of the namespace or prefix, such as ``lambda names:
            names[1]``, for a store that serves many users.
        index: LangGraph's configuration, ``{"dims": 1536, "embed": function, "fields": ["text"]}``; or the fields of
            values that are searched, as paths such as "text" or "facts[*].content"; None for all.
        ttl: how long items live, as for LangGraph's own stores. Expired items are never returned.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: User,
        *,
        index: IndexConfig | list[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        self._memory = memory
        self._user_id = user_id
        self.index_config = cast("IndexConfig", {"fields": index}) if isinstance(index, list) else index
        self._embedder = Embedder(self.index_config or {})
        self.ttl_config = ttl

    def batch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations one after the other.

        Raises:
            InvalidNamespaceError: a label is empty, no text, or has a period; then nothing is executed.
            InvalidValueError: a value cannot be stored as JSON.
            psycopg.Error: the database fails.
            TypeError: the client is an AsyncMemory.
            ValueError: a filter has an unknown operator, or an embedding has other dimensions than ``index`` says.
        """
        memory, ops = blocking(self._memory), _checked(ops)
        return finished(self._executed(memory, ops, self._embedder.embedded(ops)))

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations one after the other, as ``batch`` does."""
        ops = _checked(ops)
        embedded = await self._embedder.aembedded(ops)
        if isinstance(self._memory, AsyncMemory):
            return await self._executed(self._memory, ops, embedded)
        memory = blocking(self._memory)
        return await asyncio.to_thread(lambda: finished(self._executed(memory, ops, embedded)))

    async def _executed(self, memory: AsyncMemory, ops: list[Op], embedded: Embedded) -> list[Result]:
        results: list[Result] = []
        for op in ops:
            if isinstance(op, GetOp):
                results.append(await self._get(memory, op))
            elif isinstance(op, SearchOp):
                results.append(await self._search(memory, op, embedded))
            elif isinstance(op, PutOp):
                await self._put(memory, op, embedded)
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

    async def _put(self, memory: AsyncMemory, op: PutOp, embedded: Embedded) -> None:
        user_id, agent_id = self._user(op.namespace), _agent(op.namespace, op.key)
        stored = await memory.list_memories(user_id, agent_id=agent_id)
        if op.value is None:
            for row in stored:
                await memory.delete_memory(user_id, row.memory_id)
            return
        now = datetime.now(timezone.utc)
        content = _searched(op, self._embedder.fields)
        vectors = [embedded.texts[text] for text in self._embedder.texts(op)]
        metadata = {
            "langgraph": {
                "namespace": list(op.namespace),
                "under": [".".join(op.namespace[: depth + 1]) for depth in range(len(op.namespace))],
                "key": op.key,
                "value": op.value,
                "updated_at": now,
                **({} if op.ttl is None else {"ttl_minutes": op.ttl}),
                **({"vectors": vectors} if vectors else {}),
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

    async def _search(self, memory: AsyncMemory, op: SearchOp, embedded: Embedded) -> list[SearchItem]:
        user_id = self._user(op.namespace_prefix)
        passed = 0
        items: list[SearchItem] = []
        if op.limit <= 0:
            return items
        candidates = _candidates(memory, user_id, op)
        if op.query and self._embedder.is_own:
            query = embedded.queries[op.query]
            candidates = _nearest(memory, user_id, op, lambda kept: self._embedder.score(query, kept))
        async for found, score in candidates:
            passed += 1
            if passed <= op.offset:
                continue
            if op.refresh_ttl:
                await _refresh(memory, user_id, found)
            items.append(SearchItem(**_fields(found), score=score))
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


class AsyncAgentMemoryStore(AsyncBatchedBaseStore):
    """The same store for programs that await it, as LangGraph's AsyncPostgresStore: made within a running event loop.

    Calls of one moment are executed as one batch, in their order and without repeated ones. Functions of the graph that
    run in threads may call the synchronous methods; in the loop itself these raise asyncio.InvalidStateError.

    Args:
        memory: the client.
        user_id: as for AgentMemoryStore.
        index: as for AgentMemoryStore.
        ttl: as for AgentMemoryStore.
    """

    supports_ttl = True

    def __init__(
        self,
        memory: AsyncMemory | Memory,
        user_id: User,
        *,
        index: IndexConfig | list[str] | None = None,
        ttl: TTLConfig | None = None,
    ) -> None:
        super().__init__()
        self._store = AgentMemoryStore(memory, user_id, index=index, ttl=ttl)
        self.index_config, self.ttl_config = self._store.index_config, ttl

    async def abatch(self, ops: Iterable[Op]) -> list[Result]:
        """Execute operations one after the other, as ``AgentMemoryStore.batch`` does."""
        return await self._store.abatch(ops)


def _checked(ops: Iterable[Op]) -> list[Op]:
    """The operations, none of which addresses another namespace than it seems to."""
    ops = list(ops)
    for op in ops:
        validate_op_namespace(op)
    return ops


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
        # The first put: the server's clock has told one time, and this client's an earlier one.
        "updated_at": max(found.created_at, datetime.fromisoformat(item["updated_at"])),
    }


async def _refresh(memory: AsyncMemory, user_id: str, found: Found) -> None:
    """Let an item that is read live on, if it has a time to live."""
    if "ttl_minutes" not in _item(found):
        return
    ttl, now = timedelta(minutes=_item(found)["ttl_minutes"]), datetime.now(timezone.utc)
    with suppress(NotFoundError):  # expired or deleted meanwhile
        row = await memory.get_memory(user_id, found.id) if isinstance(found, SearchResult) else found
        if row.expires_at is not None and now + ttl - row.expires_at >= ttl * REFRESHED_FROM:
            await memory.update_memory(user_id, row.memory_id, expires_at=now + ttl)


def _searched(op: PutOp, index: list[str] | None) -> str:
    """The text that is searched: the texts at the paths of the index, or all of the value; at least the key."""
    paths = index if op.index is None else op.index or []
    if paths is None:
        lines = list(_lines(op.value, ""))
        texts = [text for _, text in lines] if len(lines) == 1 else [f"{name}: {text}" for name, text in lines]
    else:
        texts = [text for path in paths for text in get_text_at_path(op.value, path)]
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


async def _candidates(memory: AsyncMemory, user_id: str, op: SearchOp) -> AsyncIterator[tuple[Found, float | None]]:
    """Items with their scores: first those that answer the query, then the newest."""
    wanted = op.filter or {}
    filter_ = _containment(op.namespace_prefix, wanted)
    page = min(op.offset + op.limit, PAGE)
    answers: set[str] = set()
    if op.query:
        top_k = page if filter_["langgraph"].get("value", {}) == wanted else PAGE
        for found in await memory.search(user_id, op.query, sources=["memory"], filter=filter_, top_k=top_k):
            answers.add(found.id)
            if _matches(_item(found)["value"], wanted):
                yield found, found.score
    async for row in _listed(memory, user_id, filter_, page):
        if str(row.memory_id) not in answers and _matches(_item(row)["value"], wanted):
            yield row, 0.0 if op.query else None


async def _nearest(
    memory: AsyncMemory, user_id: str, op: SearchOp, score: Callable[[list[str]], float | None]
) -> AsyncIterator[tuple[Found, float | None]]:
    """Items with the similarity of their nearest text to the query; last those without embeddings, the newest first."""
    scored = [
        (row, score(_item(row).pop("vectors", [])))
        async for row in _listed(memory, user_id, _containment(op.namespace_prefix, op.filter))
        if _matches(_item(row)["value"], op.filter or {})
    ]
    for found in sorted(scored, key=lambda found: -math.inf if found[1] is None else found[1], reverse=True):
        yield found


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
    """The metadata of items under a prefix, with the wanted values that the database can compare."""
    plain = {name: value for name, value in (wanted or {}).items() if isinstance(value, (str, int, float))}
    under = {"under": [".".join(prefix)]} if prefix else {}
    return {"langgraph": {**under, "value": plain} if plain else under}


def _matches(value: Any, wanted: Any) -> bool:
    """Whether a value passes a filter; a dict in a filter holds operators, or the value of a part.

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
