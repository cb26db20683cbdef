"""An embedded store keeps messages for good unless a policy says otherwise, and sweeps itself."""

from __future__ import annotations

from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.embedded import open_store

from tests.support.runners import wait_until

pytestmark = [pytest.mark.own_server, pytest.mark.feature("A2", "E17")]


def lifetime(memory: Memory, **whose: str) -> object:
    return memory.admin.get_policy(**whose)["messages"]["expires_after"]


def said(memory: Memory) -> dict[str, object]:
    return {message.content: message.expires_at for message in memory.get_messages("ana", "t")}


def execute(folder: Path, statement: str) -> list[tuple[object, ...]]:
    with open_store(folder) as store, psycopg.connect(store.conninfo, autocommit=True) as connection:
        cursor = connection.execute(statement)
        return cursor.fetchall() if cursor.description else []


@pytest.mark.usefixtures("made")
def test_messages_stay_unless_a_policy_says_otherwise_also_after_an_upgrade(folder: Path) -> None:
    with Memory(path=folder) as memory:
        assert lifetime(memory) == "never"
        memory.add_message("ana", "t", "user", "Hi")
        assert said(memory) == {"Hi": None}
        memory.admin.set_policy({"messages": {"expires_after": None}})
        memory.admin.set_policy({"messages": {"expires_after": "30 days"}}, agent_id="cook")
        memory.add_message("ana", "t", "user", "I like tea", agent_id="cook")
        before = said(memory)
    (folder / "installed").write_text("of an earlier file")
    with Memory(path=folder) as memory:
        assert lifetime(memory, agent_id="cook") == "30 days"
        assert said(memory) == before
        assert before["I like tea"] is not None


@pytest.mark.usefixtures("made")
def test_a_store_has_read_at_its_next_start_what_a_short_program_left_unread(folder: Path) -> None:
    with Memory(path=folder) as memory:
        memory.add_message("ana", "t", "user", "I prefer trains over planes.")
    execute(folder, "update memory.threads set last_at = now() - interval '14 days'")
    execute(
        folder,
        "update memory.messages set (created_at, expires_at) = (now() - interval '14 d', now() - interval '7 d')",
    )
    with Memory(path=folder) as memory:
        wait_until(lambda: memory.list_memories("ana"))
        assert "trains" in memory.list_memories("ana")[0].content
        assert said(memory) == {}
    execute(folder, "select memory.sweep()")
    assert execute(folder, "select count(*) from memory.messages") == [(0,)]
