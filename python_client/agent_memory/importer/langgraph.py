"""Reads the threads of LangGraph's checkpoints, from the SQLite file or the PostgreSQL that a graph has saved them to.

The newest checkpoint of a thread has its messages, under ``messages`` in the state. When a message was said is not in
it: each gets the time of the first checkpoint that has it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import Any

from ..errors import AgentMemoryError
from .records import Record, Source, repaired, time_of, with_times

_EXTRA = "pip install 'pg-agent-memory[checkpoints]'"


def read_langgraph(source: Source, path: Path | str) -> Iterator[Record]:
    """Yield the messages of all threads."""
    with _saver(path) as (saver, thread_ids):
        for number, thread_id in enumerate(thread_ids, start=1):
            if source.user_id is None:
                yield source.no_user(f"thread {thread_id}")
                continue
            try:
                yield from with_times(iter(_messages(source, saver, thread_id, source.user_id)))
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                yield source.bad(f"thread {number} ({thread_id})", str(error) or type(error).__name__)


@contextmanager
def _saver(path: Path | str) -> Iterator[tuple[Any, list[str]]]:
    """Yield LangGraph's own saver for a file or connection string, and the threads that it has."""
    threads = "select distinct thread_id from checkpoints order by thread_id"
    try:
        from langgraph.checkpoint.serde.jsonplus import JsonPlusSerializer

        # A checkpoint may name any class, whose objects loading would make: only LangGraph's list of harmless ones is
        # loaded, and anything else stays data.
        serializer = JsonPlusSerializer(allowed_msgpack_modules=None)
        if "://" in str(path):
            from langgraph.checkpoint.postgres import PostgresSaver

            with PostgresSaver.from_conn_string(str(path)) as saver:
                saver.serde = serializer
                connection: Any = saver.conn
                yield saver, [row["thread_id"] for row in connection.execute(threads).fetchall()]
        else:
            import sqlite3

            from langgraph.checkpoint.sqlite import SqliteSaver

            file = sqlite3.connect(f"file:{Path(path).absolute()}?mode=ro", uri=True, check_same_thread=False)
            try:
                names = [row[0] for row in file.execute(threads)]
                reader = SqliteSaver(file, serde=serializer)
                reader.is_setup = True  # the file is opened for reading alone
                yield reader, names
            except sqlite3.DatabaseError as error:
                raise AgentMemoryError(f"{path} has no checkpoints of LangGraph: {error}") from None
            finally:
                file.close()
    except ImportError as error:
        raise AgentMemoryError(f"reading checkpoints of LangGraph needs {error.name}", hint=f"Run: {_EXTRA}") from None


def _messages(source: Source, saver: Any, thread_id: str, user_id: str) -> list[Record]:
    from langchain_core.messages import BaseMessage, convert_to_openai_messages

    first_seen: dict[str, datetime | None] = {}
    newest: list[Any] = []
    for saved in saver.list({"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}):  # newest first
        state = saved.checkpoint["channel_values"].get("messages") or []
        messages = [message for message in state if isinstance(message, BaseMessage)]
        newest = newest or messages
        for message in messages:
            first_seen[str(message.id)] = time_of(saved.checkpoint["ts"])
    read: list[Record] = []
    for index, message in enumerate(newest):
        here = f"thread {thread_id}, message {index + 1}"
        as_openai = repaired(convert_to_openai_messages(message))
        if not as_openai.get("content") and not as_openai.get("tool_calls"):
            continue
        as_openai["created_at"] = first_seen.get(str(message.id))
        as_openai["idempotency_key"] = f"langgraph:{message.id or index}"
        read.append(source.message(here, user_id, thread_id, as_openai))
    return read
