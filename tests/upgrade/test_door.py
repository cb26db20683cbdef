"""Calls that are under way while another version is installed wait at a door, and answer."""

from __future__ import annotations

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import psycopg
import pytest

from tests.install.steps import VERSION
from tests.install.upgrades import PART, Build
from tests.support.installer import execute, install, open_as
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F13")

CALLS = [
    "add_message(user_id => 'ana', thread_id => 't', role => 'user', content => 'Still here')",
    'add_messages(user_id => \'ana\', thread_id => \'t\', messages => \'[{"role": "user", "content": "Two"}]\')',
    "get_messages(user_id => 'ana', thread_id => 't')",
    "get_context(user_id => 'ana', thread_id => 't', query => 'tea')",
    "list_threads(user_id => 'ana')",
    "add_memory(user_id => 'ana', content => 'Likes coffee')",
    "list_memories(user_id => 'ana')",
    "search(user_id => 'ana', query => 'tea', mode => 'keyword')",
    "store_artifact(user_id => 'ana', content => 'a log', key => 'log')",
    "delete_thread(user_id => 'ana', thread_id => 'none')",
    "summarize_user(user_id => 'ana')",
    "claim_jobs(worker => 'w')",
    "list_secrets(user_id => 'ana')",
]
OLD_FUNCTIONS = """
    select proname, prosrc, provolatile from pg_proc
    where pronamespace = 'memory'::regnamespace order by oid::regprocedure::text"""

WAITING = "select count(*) from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'"


def called(connection: psycopg.Connection, call: str) -> psycopg.Cursor[Any]:
    return connection.execute(f"select * from memory.{call}".encode())


@pytest.fixture
def old_dsn(dsn: str) -> str:
    with open_as(dsn) as connection:
        api = Api(connection)
        api.add_message(user_id="ana", thread_id="t", role="user", content="I like tea")
        api.add_memory(user_id="ana", content="Likes tea")
    return dsn


def test_calls_that_wait_for_the_upgrade_answer_with_the_columns_that_they_had(old_dsn: str, later: str) -> None:
    """Of sessions that have called before: a session that looks up the type of a result meanwhile may fail."""
    answers: list[list[str]] = []
    doors, upgrade, rest = later.split("\ncommit;\n", 2)
    with ExitStack() as stack:
        sessions = [
            stack.enter_context(psycopg.connect(old_dsn, autocommit=True, prepare_threshold=None)) for _ in CALLS
        ]

        def columns(number: int) -> list[str]:
            return [column.name for column in called(sessions[number], CALLS[number]).description or ()]

        installer, watcher = stack.enter_context(open_as(old_dsn)), stack.enter_context(open_as(old_dsn))
        before = list(map(columns, range(len(CALLS))))
        installer.execute(f"{doors}\ncommit;".encode())
        assert list(map(columns, range(len(CALLS)))) == before
        installer.execute(upgrade.encode())
        with ThreadPoolExecutor(len(CALLS)) as pool:
            calls = [pool.submit(columns, number) for number in range(len(CALLS))]
            while watcher.execute(WAITING).fetchone() != (len(CALLS),):
                time.sleep(0.01)
            installer.execute("commit")
            answers = [call.result() for call in calls]
        installer.execute(rest.encode())
        assert answers == before
        said = [message.content for message in Api(installer).get_messages(user_id="ana", thread_id="t")]
        assert said.count("Still here") == 3


def test_a_failed_upgrade_in_a_transaction_of_a_migration_tool_commits_that_and_leaves_doors_that_can_be_removed(
    old_dsn: str, build: Build
) -> None:
    refused = build({PART: "select 1 / 0;"})
    with psycopg.connect(old_dsn) as tool, open_as(old_dsn) as connection:
        before = connection.execute(OLD_FUNCTIONS).fetchall()
        tool.execute("create table public.of_the_tool (x int)")
        with pytest.raises(psycopg.errors.DivisionByZero):
            tool.execute(refused.encode())
        tool.rollback()
        assert connection.execute("select memory.version(), count(*) from public.of_the_tool").fetchone() == (
            VERSION,
            0,
        )
        for call in CALLS:
            called(connection, call)
        connection.execute("call memory._door()")
        assert connection.execute(OLD_FUNCTIONS).fetchall() == before


def test_a_transaction_that_sees_one_moment_cannot_run_the_file(old_dsn: str, later: str) -> None:
    with psycopg.connect(old_dsn) as tool:
        tool.execute("set transaction isolation level repeatable read")
        tool.execute("create table public.of_the_tool (x int)")
        with pytest.raises(psycopg.errors.ActiveSqlTransaction):
            tool.execute(later.encode())
        tool.rollback()
        assert tool.execute("select memory.version(), to_regclass('public.of_the_tool')").fetchone() == (VERSION, None)


def test_an_upgrade_that_broke_off_leaves_doors_that_let_calls_pass_and_the_next_one_removes_them(
    old_dsn: str, empty_dsn: str, later: str, dump: Callable[..., str]
) -> None:
    execute(
        old_dsn, "create function memory.mine() returns int language plpgsql security definer as 'begin return 1; end'"
    )
    doors = later.split("\ncommit;\n", 1)[0]
    execute(old_dsn, f"{doors}\ncommit;")
    with open_as(old_dsn) as connection:
        for call in CALLS:
            called(connection, call)
    install(old_dsn, later)
    with open_as(old_dsn) as connection:
        assert connection.execute("select memory.mine()").fetchone() == (1,)
        connection.execute("drop function memory.mine")
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, later)
    old, new = (dump(each, "--schema-only").replace(" (made by agent_memory)", "") for each in (old_dsn, empty_dsn))
    assert old == new
