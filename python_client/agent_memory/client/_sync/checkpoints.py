# Generated from _async/checkpoints.py by generate_sync.py; do not edit.
"""The methods for checkpoints: the states of graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ...calls import SyncMethods, sql_function
from ...types import Checkpoint


class SyncCheckpoints(SyncMethods):
    """The methods for checkpoints: the states of graphs, step by step.

    ``agent_memory.adapters.langgraph.AgentMemorySaver`` calls them for LangGraph. ``namespace`` is "" for a graph
    itself, and the path of a graph within it.
    """

    @sql_function
    def put_checkpoint(
        self,
        user_id: str,
        thread_id: str,
        checkpoint_id: str,
        checkpoint: Mapping[str, Any],
        metadata: Mapping[str, Any] | None = None,
        namespace: str | None = "",
        parent_id: str | None = None,
        channels: Sequence[str] | None = None,
        versions: Sequence[str] | None = None,
        types: Sequence[str] | None = None,
        blobs: Sequence[bytes] | None = None,
    ) -> None:
        """Store the state of a graph after a step, or replace it.

        ``channels``, ``versions``, ``types`` and ``blobs`` are lists of one length: the serialised values that are new
        in this checkpoint. ``checkpoint`` has in ``channel_versions`` the version of each channel, by which earlier
        values are found. The policy ``checkpoints.expires_after`` says when all checkpoints of a thread expire.
        """

    @sql_function
    def put_checkpoint_writes(
        self,
        user_id: str,
        thread_id: str,
        checkpoint_id: str,
        task_id: str,
        places: Sequence[int],
        channels: Sequence[str],
        types: Sequence[str],
        blobs: Sequence[bytes],
        namespace: str | None = "",
        task_path: str | None = "",
    ) -> None:
        """Store what a task of the step after a checkpoint has written, as lists of one length.

        A write that is there already stays. One whose place is negative, which is a signal, is replaced.
        """

    @sql_function
    def get_checkpoint(
        self, user_id: str, thread_id: str, namespace: str | None = "", checkpoint_id: str | None = None
    ) -> Checkpoint | None:
        """Return the checkpoint of this id, or the newest one, with its values; None if there is none."""

    @sql_function
    def list_checkpoints(
        self,
        user_id: str,
        thread_id: str | None = None,
        namespace: str | None = None,
        checkpoint_id: str | None = None,
        filter: Mapping[str, Any] | None = None,
        before: str | None = None,
        row_limit: int | None = 50,
    ) -> list[Checkpoint]:
        """Return checkpoints with their values, newest first.

        ``filter`` is the part of their metadata that they have, ``before`` the id of a checkpoint that they precede, by
        which the next page is read.
        """

    @sql_function
    def delete_checkpoints(
        self, user_id: str, thread_ids: Sequence[str] | None = None, run_ids: Sequence[str] | None = None
    ) -> int:
        """Delete the checkpoints of these threads, or those of these runs, and return how many.

        Messages and memories of the threads stay.
        """

    @sql_function
    def prune_checkpoints(self, user_id: str, thread_ids: Sequence[str]) -> int:
        """Delete all checkpoints of these threads but the newest one of each namespace, and return how many.

        Raises NotSupportedError, and deletes nothing, where a graph has a DeltaChannel.
        """

    @sql_function
    def copy_checkpoints(self, user_id: str, thread_id: str, new_thread_id: str) -> int:
        """Copy all checkpoints of a thread to a thread that has none, and return how many.

        Raises ConflictError where the new thread has checkpoints.
        """
