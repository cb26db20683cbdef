"""Importing threads from LangGraph's checkpoints, which the real savers write."""

import sys
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import AgentMemoryError, Memory
from agent_memory.importer import ImportProgress, import_file

pytest.importorskip("langgraph.checkpoint.sqlite")
pytest.importorskip("langgraph.checkpoint.postgres")
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langgraph.checkpoint.base import empty_checkpoint
from langgraph.checkpoint.postgres import PostgresSaver
from langgraph.checkpoint.sqlite import SqliteSaver

CALL = {"name": "find", "args": {"q": "tea"}, "id": "call_1", "type": "tool_call"}
STEPS: list[list[Any]] = [
    [SystemMessage("Be brief", id="0"), HumanMessage("Which tea?", id="1")],
    [AIMessage("", id="2", tool_calls=[CALL]), ToolMessage("Sencha", tool_call_id="call_1", id="3")],
    [AIMessage([{"type": "text", "text": "Sencha."}], id="4")],
]


def save(saver: Any, thread_id: str) -> None:
    """Write a checkpoint after each step, as a graph does."""
    config: Any = {"configurable": {"thread_id": thread_id, "checkpoint_ns": ""}}
    messages: list[Any] = []
    for number, step in enumerate(STEPS, start=1):
        messages = [*messages, *step]
        checkpoint = empty_checkpoint()
        checkpoint["ts"] = f"2025-03-01T10:0{number}:00+00:00"
        checkpoint["channel_values"] = {"messages": messages, "other": {"x": 1}}
        checkpoint["channel_versions"] = {"messages": number, "other": number}
        metadata: Any = {"source": "loop", "step": number, "parents": {}}
        config = saver.put(config, checkpoint, metadata, checkpoint["channel_versions"])


def check(db: psycopg.Connection, path: Path | str) -> None:
    expected = ImportProgress(done=10, new=10, total=10, users=1, threads=2)
    *_, last = import_file(db, path, user_id="ana")
    assert last == expected
    *_, again = import_file(db, path, user_id="ana", format="langgraph")
    assert again.new == 0
    messages = Memory(db).get_messages("ana", "t1")
    assert [(message.role, message.content) for message in messages] == [
        ("system", "Be brief"),
        ("user", "Which tea?"),
        ("assistant", ""),
        ("tool", "Sencha"),
        ("assistant", "Sencha."),
    ]
    assert [message.created_at.minute for message in messages] == [1, 1, 2, 2, 3]
    assert messages[2].metadata["tool_calls"][0]["function"] == {"name": "find", "arguments": '{"q": "tea"}'}
    assert messages[3].metadata == {"tool_call_id": "call_1"}


def test_sqlite(db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "checkpoints.db"
    with SqliteSaver.from_conn_string(str(path)) as saver:
        for thread in ("t1", "t2"):
            save(saver, thread)
    before = path.read_bytes()
    check(db, path)
    assert path.read_bytes() == before


def test_postgres(db: psycopg.Connection, empty_dsn: str) -> None:
    parts = psycopg.conninfo.conninfo_to_dict(empty_dsn)
    url = f"postgresql://{parts['user']}@/{parts['dbname']}?host={parts['host']}&port={parts['port']}"
    with PostgresSaver.from_conn_string(url) as saver:
        saver.setup()
        for thread in ("t1", "t2"):
            save(saver, thread)
    check(db, url)


def test_a_file_that_is_none(db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    path.write_bytes(b"SQLite format 3\0" + b"x" * 100)
    with pytest.raises(AgentMemoryError, match="has no checkpoints of LangGraph"):
        list(import_file(db, path, user_id="ana"))
    path.write_text("{}")
    with pytest.raises(AgentMemoryError, match="is not of format langgraph"):
        list(import_file(db, path, user_id="ana", format="langgraph"))


def test_without_the_packages(db: psycopg.Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "langgraph.checkpoint.postgres", None)
    with pytest.raises(AgentMemoryError, match="needs langgraph") as raised:
        list(import_file(db, "postgresql://nowhere.invalid/x", user_id="ana"))
    assert raised.value.hint == "Run: pip install 'pg-agent-memory[checkpoints]'"


def test_errors_name_no_password(db: psycopg.Connection) -> None:
    for url in ("postgresql://me:secret@host/app", "postgresql://host/app?password=secret"):
        with pytest.raises(AgentMemoryError, match="format: postgresql://host/app is not") as raised:
            list(import_file(db, url, user_id="ana", format="chat"))
        assert "secret" not in str(raised.value)
