"""What a person meets in the first hour with the commands: ids that are shortened, counts that agree, one advice."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from uuid import UUID

import psycopg
import pytest
from agent_memory import Memory
from agent_memory._progress import progress
from psycopg.conninfo import make_conninfo
from rich.console import Console

from tests.support.servers import Run

pytestmark = pytest.mark.feature("E17")


def renamed(db: psycopg.Connection[Any], memory_id: object, id_: str) -> str:
    """Give a memory another id, so that ids begin as a test wants it."""
    db.execute("set session_replication_role = replica")
    db.execute("update memory.memories set memory_id = %s where memory_id = %s", [id_, memory_id])
    db.execute("reset session_replication_role")
    return id_


@pytest.fixture
def ids(db: psycopg.Connection[Any]) -> list[str]:
    """Ids of memories of ana: the first two begin alike."""
    memory = Memory(db)
    starts = ("aaaabbbb-0000", "aaaabbbb-1111", "cccc0000-0000")
    contents = ("Likes tea", "Likes coffee", "Likes \x1b[31mmilk")
    return [
        renamed(db, memory.add_memory("ana", content).memory_id, f"{start}-7000-8000-000000000000")
        for start, content in zip(starts, contents, strict=True)
    ]


class TestIds:
    def test_a_beginning_is_enough_where_it_names_one(self, run: Run, db: psycopg.Connection, ids: list[str]) -> None:
        memory = Memory(db)
        assert "Likes tea" in run("memories", "show", "ana", "aaaabbbb-0").stdout
        assert ids[0] in run("memories", "update", "ana", "AAAABBBB0", "Likes green tea").stdout
        assert memory.get_memory("ana", ids[0]).content == "Likes green tea"
        assert run("memories", "supersede", "ana", "aaaabbbb-0", "aaaabbbb-1").returncode == 0
        assert memory.get_memory("ana", ids[0]).superseded_by == UUID(ids[1])
        assert run("memories", "delete", "ana", "cccc").stdout == f"Deleted {ids[2]}.\n"
        assert run("memories", "restore", "ana", "cccc").returncode == 0
        assert run("quarantine", "add", "ana", "memory", "cccc").returncode == 0
        assert run("quarantine", "release", "ana", "memory", "cccc").returncode == 0
        assert run("memories", "forget", "ana", "cccc", "--yes").returncode == 0
        document_id = memory.add_document("ana", "How to brew tea")
        assert run("documents", "delete", "ana", str(document_id)[:20]).stdout == f"Deleted {document_id}.\n"

    def test_an_end_is_enough_where_ids_begin_alike(self, run: Run, db: psycopg.Connection) -> None:
        memory = Memory(db)
        ids = [str(memory.add_memory("ana", content).memory_id) for content in ("Likes tea", "Likes coffee")]
        for id_, content in zip(ids, ("Likes tea", "Likes coffee"), strict=True):
            assert content in run("memories", "show", "ana", id_[-8:]).stdout
        renamed(db, ids[0], "aaaabbbb-0000-7000-8000-00000000cccc")
        renamed(db, ids[1], "cccc0000-0000-7000-8000-000000000000")
        assert "begin or end with cccc" in run("memories", "show", "ana", "cccc").stderr

    def test_one_that_names_several_is_an_error_that_lists_them(self, run: Run, ids: list[str]) -> None:
        result = run("memories", "delete", "ana", "aaaabbbb")
        assert result.returncode == 1
        assert "the ids of several memories begin or end with aaaabbbb" in result.stderr
        assert f"{ids[0]} (Likes tea)" in result.stderr
        assert f"{ids[1]} (Likes coffee)" in result.stderr
        assert run("memories", "show", "ana", ids[0]).returncode == 0

    @pytest.mark.parametrize(
        ("given", "says"),
        [
            ("dddd", 'user "ana" has no memory whose id begins or ends with dddd'),
            ("cccc0000-0000-7000-8000-00000000000g", "memory_id is not a UUID"),
            ("abc", "memory_id is not a UUID"),
            ("abc", "its first or last digits, four at least: agent-memory memories ana"),
            ("ffffffff-ffff-ffff-ffff-ffffffffffff", "this user has no memory ffffffff"),
        ],
    )
    @pytest.mark.usefixtures("ids")
    def test_one_that_names_nothing_says_so(self, run: Run, given: str, says: str) -> None:
        assert says in run("memories", "show", "ana", given).stderr

    def test_ids_of_others_are_not_found(self, run: Run, ids: list[str]) -> None:
        result = run("memories", "show", "bob", "aaaa")
        assert 'user "bob" has no memory' in result.stderr
        assert ids[0] not in result.stderr

    @pytest.mark.usefixtures("ids")
    def test_a_role_that_may_only_call_functions_names_whole_ids(
        self, run: Run, dsn: str, db: psycopg.Connection, ids: list[str]
    ) -> None:
        db.execute("create role caller login in role memory_app")
        try:
            as_caller = {"AGENT_MEMORY_DSN": make_conninfo(dsn, user="caller")}
            assert (
                "this role may not look for an id by a part of it"
                in run("memories", "show", "ana", "cccc", **as_caller).stderr
            )
            assert "Likes" in run("memories", "show", "ana", ids[2], **as_caller).stdout
            assert run("threads", "ana", **as_caller).returncode == 0
        finally:
            db.execute("drop owned by caller; drop role caller")


def test_the_new_text_of_a_memory_is_an_argument(run: Run, ids: list[str]) -> None:
    assert run("memories", "update", "ana", ids[0], "Likes oolong").returncode == 0
    assert "Likes oolong" in run("memories", "show", "ana", ids[0]).stdout
    neither = run("memories", "update", "ana", ids[0])
    assert (neither.returncode, "nothing to change" in neither.stderr) == (1, True)
    assert len(json.loads(run("memories", "show", "ana", ids[0], "--json").stdout)["history"]) == 2


def test_threads_count_what_was_said_and_what_is_active(run: Run, db: psycopg.Connection) -> None:
    memory = Memory(db)
    memory.add_messages("ana", "t1", [{"role": "user", "content": "Hi"}] * 24)
    memory.clear_thread("ana", "t1")
    memory.add_message("ana", "t1", "user", "Hello")
    heading, row = run("threads", "ana").stdout.splitlines()
    counts = dict(zip(heading.split()[:4], row.split()[:4], strict=True))
    assert (counts["messages"], counts["active"]) == ("25", "1")
    of_json = json.loads(run("threads", "ana", "--json").stdout)
    assert (of_json["message_count"], of_json["active_count"]) == (25, 1)


def test_no_memories_yet_says_why_and_what_helps(run: Run, db: psycopg.Connection) -> None:
    assert run("memories", "ana").stdout == (
        "No memories. Nobody has said anything as ana; agent-memory users lists the users.\n"
    )
    memory = Memory(db)
    for thread in ("monday", "tuesday"):
        memory.add_message("ana", thread, "user", "I prefer trains over planes.")
    assert run("memories", "ana").stdout == (
        "No memories. 2 messages are not read yet: that happens every 10 messages of a thread; "
        "now: agent-memory memories extract ana\n"
    )
    said = run("memories", "extract", "ana").stdout
    assert ("reads thread monday" in said, "reads thread tuesday" in said) == (True, True)
    assert "agent-memory worker --once" in said
    assert run("worker", "--once").returncode == 0
    assert "trains over planes" in run("memories", "ana").stdout
    assert run("memories", "extract", "ana").stdout == "All messages are read already.\n"
    assert "reads thread monday" in run("memories", "extract", "ana", "monday").stdout


def test_a_list_without_a_user_asks_for_one(run: Run) -> None:
    for group in ("threads", "memories", "documents"):
        result = run(group)
        assert (result.returncode, result.stdout) == (2, "")
        assert f"name a user: agent-memory {group} ana" in result.stderr


def test_settings_are_sorted(run: Run) -> None:
    run("policy", "set", "search.language", "german")
    run("policy", "set", "context.max_tokens", "5000")
    for what in ("show", "diff"):
        keys = [line.split()[0] for line in run("policy", what).stdout.splitlines()[1:]]
        assert len(keys) >= 2
        assert keys == sorted(keys)


class TestOneAdvice:
    def test_without_a_model_all_commands_say_the_same(self, run: Run, db: psycopg.Connection) -> None:
        Memory(db).add_memory("ana", "Likes tea")
        help_ = "agent-memory models local"
        assert help_ in run("status").stdout
        [line] = [line for line in run("doctor").stdout.splitlines() if "embedding model" in line]
        assert line.split()[0] == "degraded"
        assert help_ in line
        assert help_ in run("search", "ana", "tea", "--mode", "hybrid").stderr + run("doctor").stdout

    def test_the_command_of_the_advice_ends_the_state(
        self, run: Run, db: psycopg.Connection, minilm: Path, tmp_path: Path
    ) -> None:
        refused = run("models", "local", AGENT_MEMORY_MODEL_DIR=str(tmp_path))
        assert refused.returncode == 1
        assert "the small embedding model all-MiniLM-L6-v2 cannot be used" in refused.stderr
        assert "Correct or unset AGENT_MEMORY_MODEL_DIR" in refused.stderr
        assert db.execute("select from memory.models where kind = 'embedding'").fetchall() == []
        for _ in range(2):
            assert "all-MiniLM-L6-v2 is active" in run("models", "local", AGENT_MEMORY_MODEL_DIR=str(minilm)).stdout
        assert "degraded embedding model" not in run("status").stdout
        assert "degraded" not in run("doctor").stdout


def test_progress_ends_with_all_that_was_done(capsys: pytest.CaptureFixture[str]) -> None:
    """Work that is done may queue more work, so that there is more to do after all was done."""
    with progress(Console(width=80), "worker") as report:
        for done, total in [*((number, 10) for number in range(1, 11)), (11, 12), (12, 12)]:
            report(done, total)
    assert capsys.readouterr().out.splitlines()[-2:] == ["worker: 10 of 10", "worker: 12 of 12"]
