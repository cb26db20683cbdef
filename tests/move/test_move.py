"""Users moved from one database to another: nothing is lost, nothing is done twice, and the source stays as it was."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import (
    ConflictError,
    InvalidValueError,
    Memory,
    NotFoundError,
    NotInstalledError,
    PermissionDeniedError,
    RetryableError,
)
from agent_memory.move import MovedUser, move
from agent_memory.move.registry import NOT_COPIED
from agent_memory.move.tables import Side
from psycopg.conninfo import make_conninfo

from tests.move.conftest import ANA
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("E17")

Connect = Callable[[], psycopg.Connection[Any]]


def moved(source: Api, target: psycopg.Connection[Any], *users: str) -> dict[str, MovedUser]:
    results = {}
    for result in move(source.connection, target, list(users) or None):
        results[result.user_id] = result
    return results


def outcomes(results: dict[str, MovedUser]) -> dict[str, str]:
    return {user_id: result.outcome for user_id, result in results.items() if user_id}


def test_every_trigger_on_insert_lets_copied_rows_pass(source: Api) -> None:
    inserts = "select tgname from pg_trigger where not tgisinternal and tgtype & 4 = 4"
    inserts += " and tgrelid = any (%(tables)s::regclass[])"
    tables = [f"memory.{table.name}" for table in Side(source.connection).tables]
    assert len(source.query(inserts, tables=tables)) >= 9
    condition = (
        "pg_get_triggerdef(oid) !~ 'rows_are_copied|seq IS NULL' and pg_get_functiondef(tgfoid) !~ 'rows_are_copied'"
    )
    assert source.query(f"{inserts} and {condition}", tables=tables) == []


def test_all_of_every_user_arrives_and_nothing_else_happens(source: Api, target: psycopg.Connection[Any]) -> None:
    # What a sweep has to look at after a model was activated there is of no user, and stays there.
    source.connection.execute("delete from memory.marks where user_id = '' and kind = 'backfill'")
    before = source.state()
    results = moved(source, target)
    assert outcomes(results) == {ANA: "moved", "bo": "moved"}
    assert source.state() == before

    there = Api(target)
    same = set(before) - set(NOT_COPIED) - {"jobs", "models", "memory_types", "erasure_keys", "migrations"}
    after = there.state()
    assert {name for name in same if before[name] != after[name]} == set()
    as_is = "select to_jsonb(m) - 'created_at' from memory.models as m order by name"
    assert there.query(as_is) == source.query(as_is)
    jobs = "select to_jsonb(j) from memory.jobs as j where status <> %(status)s order by user_id, job_id"
    [running] = source.query("select * from memory.jobs where status = 'running'")
    waits = "select * from memory.jobs where user_id = %(user_id)s and job_id = %(job_id)s"
    [waiting] = there.query(waits, user_id=running.user_id, job_id=running.job_id)
    assert (waiting.status, waiting.attempts, waiting.lease_token) == ("pending", 0, None)
    assert len(there.query(jobs, status="")) == len(source.query(jobs, status=""))

    [found] = there.search(user_id=ANA, query="long", mode="keyword", sources=["artifact"])
    assert found.id == "log"
    assert there.add_message(user_id=ANA, thread_id="thread tea", role="user", content="On").seq == 16
    assert there.list_memories(user_id=ANA, include_superseded=True) == source.list_memories(
        user_id=ANA, include_superseded=True
    )


def test_the_target_gives_no_id_to_a_job_that_a_moved_one_has(source: Api, target: psycopg.Connection[Any]) -> None:
    source.connection.execute("select setval('memory.jobs_job_id_seq', 5000)")
    queued = source.reconcile_memories(user_id=ANA)
    moved(source, target)
    there = Api(target)
    assert there.get_job(user_id=ANA, job_id=queued).kind == "reconcile_memories"
    assert there.consolidate(user_id=ANA) > queued
    again = "select last_value from memory.jobs_job_id_seq"
    before = there.value(again)
    assert outcomes(moved(source, target)) == {ANA: "present", "bo": "present"}
    assert there.value(again) == before


def test_one_user_and_back(source: Api, target: psycopg.Connection[Any]) -> None:
    assert outcomes(moved(source, target, "bo")) == {"bo": "moved"}
    there = Api(target)
    assert there.query("select distinct user_id from memory.messages") == [("bo",)]
    there.add_memory(user_id="cy", content="Likes milk")
    source.set_policy(settings={"context": {"max_memories": 9}})
    back = {result.user_id: result for result in move(target, source.connection, ["cy"])}
    assert outcomes(back) == {"cy": "moved"}
    assert [memory.content for memory in source.list_memories(user_id="cy")] == ["Likes milk"]
    assert source.get_policy()["context"]["max_memories"] == 9
    with pytest.raises(NotFoundError, match='user "nobody" has nothing at the source'):
        moved(source, target, "nobody")


def test_a_user_with_other_rows_at_the_target_is_refused_and_equal_ones_are_passed_by(
    source: Api, target: psycopg.Connection[Any]
) -> None:
    moved(source, target, "bo")
    there = Api(target)
    there.add_memory(user_id=ANA, content="Likes something else")
    before = there.state()
    results = moved(source, target)
    assert outcomes(results) == {ANA: "refused", "bo": "present"}
    assert "delete the user there" in (results[ANA].problem or "")
    assert there.state() == before

    # Equal without having been moved: as after a restored backup.
    target.execute("delete from memory.moved_users")
    assert outcomes(moved(source, target)) == {ANA: "refused", "bo": "present"}
    # What the target goes on with is its own.
    moved(source, target)
    target.execute("insert into memory.moved_users (user_id, contents) values ('bo', %s)", ['{"messages": [0, "0"]}'])
    results = moved(source, target)
    assert outcomes(results)["bo"] == "changed"


def test_who_is_written_to_after_being_copied_is_named(source: Api, target: psycopg.Connection[Any]) -> None:
    results = []
    with psycopg.connect(source.connection.info.dsn, autocommit=True) as writer:
        for result in move(source.connection, target):
            results.append((result.user_id, result.outcome))
            if result.user_id == "bo":
                Api(writer).add_memory(user_id=ANA, content="Too late")
    assert results == [("", "moved"), (ANA, "moved"), ("bo", "moved"), (ANA, "changed")]
    again = moved(source, target)
    assert outcomes(again) == {ANA: "changed", "bo": "present"}
    assert "stop its writers" in (again[ANA].problem or "")


def test_others_write_at_the_target_meanwhile_with_all_triggers_at_work(source: Api, open_target: Connect) -> None:
    target, other = open_target(), open_target()
    seen: list[Any] = []

    def write(user_id: str, _table: str, _done: int, _total: int) -> None:
        client = Api(other)
        seen.append(client.add_message(user_id="dan", thread_id="t1", role="user", content="Hello").seq)
        client.add_memory(user_id="dan", content=f"Fact {len(seen)} of {user_id}")

    source.connection.execute(
        "insert into memory.messages (user_id, thread_id, role, content)"
        " select 'eve', 't', 'user', 'm' || n from generate_series(1, 3000) as n"
    )
    results = {result.user_id: result.outcome for result in move(source.connection, target, None, write)}
    assert results["eve"] == "moved"
    assert seen == list(range(len(seen)))
    assert len(seen) >= 3
    there = Api(target)
    assert there.value("select memory_count from memory.memory_scopes where user_id = 'dan'") == len(seen)


def test_who_writes_to_the_same_user_at_the_target_meanwhile_wins(source: Api, open_target: Connect) -> None:
    target, other = open_target(), open_target()
    moved(source, target, "bo")

    def write(_user_id: str, _table: str, done: int, _total: int) -> None:
        if done == 1000:
            Api(other).add_memory(user_id="eve", content="Here already")

    source.connection.execute(
        "insert into memory.messages (user_id, thread_id, role, content)"
        " select 'eve', 't', 'user', 'm' || n from generate_series(1, 3000) as n"
    )
    results = {result.user_id: result.outcome for result in move(source.connection, target, ["eve"], write)}
    assert results["eve"] == "refused"
    assert Api(target).query("select content from memory.messages where user_id = 'eve'") == []


def test_the_owner_moves_without_being_superuser_and_nobody_else_passes_by_the_triggers(
    source: Api, empty_dsn: str
) -> None:
    with psycopg.connect(empty_dsn, autocommit=True) as admin:
        admin.execute("create extension vector")
        database = admin.info.dbname
        for role in ("mover", "bystander"):
            admin.execute(f"create role {role} login")
        try:
            admin.execute(f'grant create on database "{database}" to mover')
            with psycopg.connect(make_conninfo(empty_dsn, user="mover"), autocommit=True) as mover:
                assert outcomes(moved(source, mover)) == {ANA: "moved", "bo": "moved"}
                mover.execute("grant usage on schema memory to bystander")
                mover.execute("grant all on all tables in schema memory to bystander")
                mover.execute("grant execute on all functions in schema memory to bystander")
            with psycopg.connect(make_conninfo(empty_dsn, user="bystander"), autocommit=True) as bystander:
                with pytest.raises(PermissionDeniedError, match="the owner of schema memory"):
                    moved(source, bystander)
                bystander.execute("set memory.rows_are_copied = 'yes'")
                bystander.execute(
                    "insert into memory.messages (user_id, thread_id, role, content) values ('x', 't', 'user', 'm')"
                )
                assert bystander.execute("select message_count from memory.threads where user_id = 'x'").fetchone() == (
                    1,
                )
                assert Api(bystander).add_memory(user_id="x", content="Likes tea").inserted
        finally:
            admin.execute("drop owned by mover, bystander cascade")
            admin.execute("drop role mover, bystander")


def test_what_does_not_fit_together_is_refused(source: Api, target: psycopg.Connection[Any]) -> None:
    with pytest.raises(InvalidValueError, match="the same database"):
        moved(source, source.connection)
    moved(source, target, "bo")
    with psycopg.connect(target.info.dsn, autocommit=True) as other:
        other.execute("select pg_advisory_lock(hashtextextended('agent_memory move', 0))")
        with pytest.raises(RetryableError, match="another move"):
            moved(source, target)
    target.execute("update memory.models set model = 'another' where name = 'm'")
    with pytest.raises(ConflictError, match='model "m" is openai m at the source and openai another at the target'):
        moved(source, target)
    target.execute("insert into memory.migrations (name, sha256, version) values ('999_new', 'x', '99.0.0')")
    with pytest.raises(NotInstalledError, match="the source has agent_memory"):
        moved(source, target)


def test_a_killed_move_goes_on_where_it_ended(source: Api, target: psycopg.Connection[Any], dsn: str) -> None:
    source.connection.execute(
        "insert into memory.messages (user_id, thread_id, role, content)"
        " select 'u' || n % 40, 't', 'user', 'm' || n from generate_series(1, 4000) as n"
    )
    command = [sys.executable, "-m", "agent_memory.cli", "move", "--to", target.info.dsn]
    environment = {**os.environ, "AGENT_MEMORY_DSN": dsn, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as killed:
        assert killed.stdout is not None
        for line in killed.stdout:
            if line.startswith("moved u"):
                killed.kill()
                break
    again = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=300, check=False)
    assert again.returncode == 0, again.stderr
    assert "present" in again.stdout
    assert "The source is as it was." in again.stdout
    counts = "select user_id, count(*) from memory.messages group by 1 order by 1"
    assert Api(target).query(counts) == source.query(counts)
    assert Api(target).value("select count(*) from memory.moved_users") == 42


def test_to_a_store_without_a_server_and_back(source: Api, target: psycopg.Connection[Any], tmp_path: Path) -> None:
    def run(*arguments: str) -> str:
        command = [sys.executable, "-m", "agent_memory.cli", "move", *arguments]
        result = subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)
        assert result.returncode == 0, result.stderr
        return result.stdout

    store = str(tmp_path / "look")
    said = run("--from", source.connection.info.dsn, "--to", store, "--user", "bo")
    assert "moved bo: " in said
    assert "messages: 4 rows, the same on both sides" in said
    with Memory(path=store) as memory:
        assert [message.content for message in memory.get_messages("bo", "t1")][-1] == "answer 1"
        memory.add_message("bo", "t1", "user", "On")
    said = run("--from", store, "--to", target.info.dsn)
    assert "1 user moved" in said
    assert Api(target).value("select count(*) from memory.messages where user_id = 'bo'") == 5
