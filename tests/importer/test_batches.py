"""Records that are stored together."""

import json
from pathlib import Path

import psycopg
from agent_memory import Memory
from agent_memory.importer import import_file


def test_the_memories_of_a_user_are_stored_by_one_statement(db: psycopg.Connection, tmp_path: Path) -> None:
    path = tmp_path / "mem0.json"
    path.write_text(json.dumps([{"memory": f"Likes tea of kind {kind}"} for kind in range(3)]))
    *_, last = import_file(db, path, user_id="ana")
    assert last.memories == 3
    times = {stored.created_at for stored in Memory(db).list_memories("ana")}
    assert len(times) == 1, "rows of one statement have one time"
