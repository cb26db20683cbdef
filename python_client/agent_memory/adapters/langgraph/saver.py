"""A LangGraph checkpointer: the states of graphs, in the database of the messages and memories."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any, TypeVar, cast

from ...client import AsyncMemory, Memory
from ...errors import NotSupportedError
from ...types import Checkpoint as StoredCheckpoint
from ..clients import asynchronous, blocking, finished, needs
from .paging import Paging

with needs("langgraph"):
    from langchain_core.runnables import RunnableConfig
    from langgraph.checkpoint.base import (
        WRITES_IDX_MAP,
        BaseCheckpointSaver,
        ChannelVersions,
        Checkpoint,
        CheckpointMetadata,
        CheckpointTuple,
        get_checkpoint_id,
        get_checkpoint_metadata,
    )
    from langgraph.checkpoint.serde.base import SerializerProtocol
    from langgraph.checkpoint.serde.types import _DeltaSnapshot

SMALL = 200
"""Characters of a text that is stored in each checkpoint anew; a longer one is stored once for all that have it."""

_BLOBLESS = "blobless_versions"
"""What the database calls the versions of channels that have no value of their own beside a checkpoint."""
_OF_ONE_STEP = ("__start__", "branch:to:")
"""How the names of LangGraph's channels begin that start nodes, and are empty afterwards."""

User = str | Callable[[RunnableConfig], str]
Value = TypeVar("Value")


class AgentMemorySaver(BaseCheckpointSaver[str]):
    """A LangGraph checkpointer that keeps the states of graphs under a user and a thread.

    ``builder.compile(checkpointer=AgentMemorySaver(memory, user_id))``. A checkpoint is one call of the database, and
    so is reading one. ``forget_user``, exports, tenants and moves include checkpoints; the policy
    ``checkpoints.expires_after`` bounds their life. Values are serialised by LangGraph, so the database reads nothing
    of them: what is to be found again belongs into messages and memories.

    ``delete_thread`` deletes a thread's checkpoints; ``memory.delete_thread`` deletes the thread with all that it has.

    Args:
        memory: the client. With Memory all methods work (the asynchronous ones in threads), with AsyncMemory only the
            asynchronous ones.
        user_id: whose threads they are; a function of the configuration, such as ``lambda config:
            config["configurable"]["user_id"]``, for a graph that serves many users. Methods that take threads call it
            with a configuration that has nothing but ``thread_id``, ``delete_for_runs`` with an empty one.
        serde: LangGraph's serializer; None takes LangGraph's own.
    """

    def __init__(self, memory: AsyncMemory | Memory, user_id: User, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(serde=serde)
        self._memory = memory
        self._user_id = user_id

    def get_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return the checkpoint that the configuration names, or the newest one of its thread; None if there is none.

        Raises:
            psycopg.Error: the database fails. So do all methods.
            TypeError: the client is an AsyncMemory. So do all methods that block.
        """
        return self._finish(self._get(self._client_that_blocks, config))

    async def aget_tuple(self, config: RunnableConfig) -> CheckpointTuple | None:
        """Return a checkpoint, as ``get_tuple`` does."""
        return await self._get(self._asynchronous, config)

    def list(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> Iterator[CheckpointTuple]:
        """Yield checkpoints, newest first: of the configuration's thread, or of all threads of the user.

        Args:
            config: names the thread, and may name a namespace and a checkpoint.
            filter: the part of their metadata that the checkpoints have.
            before: names a checkpoint that they precede.
            limit: the most that are wanted.
        """
        paging = Paging(before, limit)
        while paging.wanted > 0:
            yield from paging.passed(self._finish(self._page(self._client_that_blocks, config, filter, paging)))

    async def alist(
        self,
        config: RunnableConfig | None,
        *,
        filter: dict[str, Any] | None = None,
        before: RunnableConfig | None = None,
        limit: int | None = None,
    ) -> AsyncIterator[CheckpointTuple]:
        """Yield checkpoints, as ``list`` does."""
        paging = Paging(before, limit)
        while paging.wanted > 0:
            for found in paging.passed(await self._page(self._asynchronous, config, filter, paging)):
                yield found

    def put(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and return the configuration that names it."""
        return self._finish(self._put(self._client_that_blocks, config, checkpoint, metadata, new_versions))

    async def aput(
        self,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        """Store a checkpoint, and return the configuration that names it."""
        return await self._put(self._asynchronous, config, checkpoint, metadata, new_versions)

    def put_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written before the next checkpoint is."""
        self._finish(self._put_writes(self._client_that_blocks, config, writes, task_id, task_path))

    async def aput_writes(
        self, config: RunnableConfig, writes: Sequence[tuple[str, Any]], task_id: str, task_path: str = ""
    ) -> None:
        """Store what a task has written before the next checkpoint is."""
        await self._put_writes(self._asynchronous, config, writes, task_id, task_path)

    def delete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints of a thread."""
        self._finish(self._delete_threads(self._client_that_blocks, [thread_id]))

    async def adelete_thread(self, thread_id: str) -> None:
        """Delete all checkpoints of a thread."""
        await self._delete_threads(self._asynchronous, [thread_id])

    def delete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that these runs have stored."""
        self._finish(self._delete_for_runs(self._client_that_blocks, run_ids))

    async def adelete_for_runs(self, run_ids: Sequence[str]) -> None:
        """Delete the checkpoints that these runs have stored."""
        await self._delete_for_runs(self._asynchronous, run_ids)

    def copy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread to one that has none.

        Raises:
            ConflictError: the other thread has checkpoints.
        """
        self._finish(self._copy(self._client_that_blocks, source_thread_id, target_thread_id))

    async def acopy_thread(self, source_thread_id: str, target_thread_id: str) -> None:
        """Copy all checkpoints of a thread, as ``copy_thread`` does."""
        await self._copy(self._asynchronous, source_thread_id, target_thread_id)

    def prune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the checkpoints of threads: all but the newest of each namespace, or all.

        Args:
            thread_ids: the threads.
            strategy: "keep_latest", or "delete" for all.

        Raises:
            NotImplementedError: a graph has a DeltaChannel, whose value is made of earlier checkpoints.
            ValueError: the strategy is another one.
        """
        self._finish(self._prune(self._client_that_blocks, thread_ids, strategy))

    async def aprune(self, thread_ids: Sequence[str], *, strategy: str = "keep_latest") -> None:
        """Delete the checkpoints of threads, as ``prune`` does."""
        await self._prune(self._asynchronous, thread_ids, strategy)

    def get_next_version(self, current: str | int | float | None, channel: None = None) -> str:  # noqa: ARG002
        """Return the version after one: a number by which versions sort, and a random part.

        Two runs that go on from one checkpoint make different values; without the random part these had one version.
        """
        number = 0 if current is None else int(str(current).partition(".")[0])
        return f"{number + 1:032}.{os.urandom(8).hex()}"

    @cached_property
    def _client_that_blocks(self) -> AsyncMemory:
        return blocking(self._memory)

    def _finish(self, call: Coroutine[Any, Any, Value]) -> Value:
        """Run a call of the client that blocks, and return its result."""
        return finished(call)

    @property
    def _asynchronous(self) -> AsyncMemory:
        return asynchronous(self._memory)

    def _user(self, config: RunnableConfig) -> str:
        return self._user_id(config) if callable(self._user_id) else self._user_id

    def _user_of_thread(self, thread_id: str) -> str:
        return self._user({"configurable": {"thread_id": thread_id}})

    async def _get(self, memory: AsyncMemory, config: RunnableConfig) -> CheckpointTuple | None:
        stored = await memory.get_checkpoint(
            self._user(config), *_place(config), checkpoint_id=get_checkpoint_id(config)
        )
        return None if stored is None else self._loaded(stored)

    async def _page(
        self, memory: AsyncMemory, config: RunnableConfig | None, filter: dict[str, Any] | None, paging: Paging
    ) -> Sequence[CheckpointTuple]:
        named = {} if config is None else config["configurable"]
        page = await memory.list_checkpoints(
            self._user(config or {}),
            None if config is None else str(named["thread_id"]),
            named.get("checkpoint_ns"),
            None if config is None else get_checkpoint_id(config),
            filter=filter,
            before=paging.before,
            row_limit=paging.wanted,
        )
        return [self._loaded(stored) for stored in page]

    async def _put(
        self,
        memory: AsyncMemory,
        config: RunnableConfig,
        checkpoint: Checkpoint,
        metadata: CheckpointMetadata,
        new_versions: ChannelVersions,
    ) -> RunnableConfig:
        thread_id, namespace = _place(config)
        values = checkpoint["channel_values"]
        small: dict[str, Any] = {name: value for name, value in values.items() if _fits_json(value)}
        # An absent DeltaChannel may have a value in its version all the same.
        blobless = {
            name: version
            for name, version in checkpoint["channel_versions"].items()
            if name in small or (name not in values and name.startswith(_OF_ONE_STEP))
        }
        large = [name for name in values if name not in small and name in new_versions]
        # As LangGraph's own checkpointers do: by true and a value, prune_checkpoints() knows a DeltaChannel.
        small |= {name: True for name, value in values.items() if isinstance(value, _DeltaSnapshot)}
        serialised = [self.serde.dumps_typed(values[name]) for name in large]
        await memory.put_checkpoint(
            self._user(config),
            thread_id,
            checkpoint["id"],
            cast("Mapping[str, Any]", {**checkpoint, "channel_values": small, _BLOBLESS: blobless}),
            cast("Mapping[str, Any]", get_checkpoint_metadata(config, metadata)),
            namespace,
            get_checkpoint_id(config),
            large,
            [str(new_versions[name]) for name in large],
            [kind for kind, _ in serialised],
            [blob for _, blob in serialised],
        )
        return _config(thread_id, namespace, checkpoint["id"])

    async def _put_writes(
        self,
        memory: AsyncMemory,
        config: RunnableConfig,
        writes: Sequence[tuple[str, Any]],
        task_id: str,
        task_path: str,
    ) -> None:
        thread_id, namespace = _place(config)
        serialised = [self.serde.dumps_typed(value) for _, value in writes]
        await memory.put_checkpoint_writes(
            self._user(config),
            thread_id,
            str(config["configurable"]["checkpoint_id"]),
            task_id,
            [WRITES_IDX_MAP.get(channel, place) for place, (channel, _) in enumerate(writes)],
            [channel for channel, _ in writes],
            [kind for kind, _ in serialised],
            [blob for _, blob in serialised],
            namespace,
            task_path,
        )

    async def _delete_threads(self, memory: AsyncMemory, thread_ids: Sequence[str]) -> None:
        for user_id, threads in self._by_user(thread_ids).items():
            await memory.delete_checkpoints(user_id, threads)

    async def _delete_for_runs(self, memory: AsyncMemory, run_ids: Sequence[str]) -> None:
        await memory.delete_checkpoints(self._user({}), run_ids=[str(run_id) for run_id in run_ids])

    async def _copy(self, memory: AsyncMemory, source: str, target: str) -> None:
        await memory.copy_checkpoints(self._user_of_thread(str(source)), str(source), str(target))

    async def _prune(self, memory: AsyncMemory, thread_ids: Sequence[str], strategy: str) -> None:
        if strategy == "delete":
            await self._delete_threads(memory, thread_ids)
        elif strategy == "keep_latest":
            for user_id, threads in self._by_user(thread_ids).items():
                try:
                    await memory.prune_checkpoints(user_id, threads)
                except NotSupportedError as error:  # noqa: PERF203  # LangGraph's own error
                    raise NotImplementedError(str(error)) from error
        else:
            raise ValueError(f'strategy must be "keep_latest" or "delete", not {strategy!r}')

    def _by_user(self, thread_ids: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """The threads of each user."""
        if isinstance(thread_ids, str):
            raise TypeError("thread_ids must be a list of ids, not a str")
        users: dict[str, Any] = {}
        for thread_id in map(str, thread_ids):
            users.setdefault(self._user_of_thread(thread_id), []).append(thread_id)
        return users

    def _loaded(self, stored: StoredCheckpoint) -> CheckpointTuple:
        stored.checkpoint.pop(_BLOBLESS, None)
        checkpoint = cast("Checkpoint", stored.checkpoint)
        checkpoint["channel_values"].update(
            zip(stored.channels or (), self._values(stored.types, stored.blobs), strict=True)
        )
        writes = zip(
            stored.write_tasks or (),
            stored.write_channels or (),
            self._values(stored.write_types, stored.write_blobs),
            strict=True,
        )
        named = stored.thread_id, stored.namespace
        return CheckpointTuple(
            _config(*named, stored.checkpoint_id),
            checkpoint,
            cast("CheckpointMetadata", stored.metadata),
            None if stored.parent_id is None else _config(*named, stored.parent_id),
            [*writes],
        )

    def _values(self, types: Sequence[str] | None, blobs: Sequence[bytes] | None) -> Iterator[Any]:
        return map(self.serde.loads_typed, zip(types or (), blobs or (), strict=True))


class AsyncAgentMemorySaver(AgentMemorySaver):
    """The same checkpointer for programs that await it: made within a running event loop.

    Functions of the graph that run in threads may call the methods that block; in the loop itself these raise
    asyncio.InvalidStateError.

    Args:
        memory: the client.
        user_id: as for AgentMemorySaver.
        serde: as for AgentMemorySaver.
    """

    def __init__(self, memory: AsyncMemory | Memory, user_id: User, *, serde: SerializerProtocol | None = None) -> None:
        super().__init__(memory, user_id, serde=serde)
        self._loop = asyncio.get_running_loop()

    @property
    def _client_that_blocks(self) -> AsyncMemory:
        return self._asynchronous

    def _finish(self, call: Coroutine[Any, Any, Value]) -> Value:
        with suppress(RuntimeError):  # in a thread without a loop
            if asyncio.get_running_loop() is self._loop:
                call.close()
                raise asyncio.InvalidStateError(
                    "in the event loop, await the method of the same name that begins with a"
                )
        return asyncio.run_coroutine_threadsafe(call, self._loop).result()


def _place(config: RunnableConfig) -> tuple[str, str]:
    """The thread and the namespace that a configuration names."""
    return str(config["configurable"]["thread_id"]), config["configurable"].get("checkpoint_ns", "")


def _config(thread_id: str, namespace: str, checkpoint_id: str) -> RunnableConfig:
    return {"configurable": {"thread_id": thread_id, "checkpoint_ns": namespace, "checkpoint_id": checkpoint_id}}


def _fits_json(value: object) -> bool:
    """Whether a value comes back from jsonb as it was; 1e16 would be a whole number there, and -0.0 would be 0.0."""
    if isinstance(value, str):
        return type(value) is str and len(value) <= SMALL and "\0" not in value and value.isprintable()
    if type(value) is float:
        return abs(value) < 1e16 and str(value) != "-0.0"
    return value is None or type(value) in (bool, int)
