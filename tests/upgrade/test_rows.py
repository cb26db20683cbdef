"""A filled database of each release is upgraded, and every row stays."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from agent_memory.move import move

from tests.support.installer import install, open_as
from tests.support.releases import RELEASES
from tests.support.sqlapi import TABLES, Api
from tests.upgrade.fill import ANA

pytestmark = [pytest.mark.feature("F13"), pytest.mark.parametrize("version", RELEASES)]

Rows = dict[str, dict[str, dict[str, Any]]]
"""For each table its rows by their key."""

CHANGED = {
    ("artifacts", "content"): "contents stand in memory.artifact_parts",
    ("artifacts", "search_vector"): "words stand in memory.artifact_parts",
    ("jobs", "error"): "what a provider said may repeat a user's words, so it was removed",
    ("model_calls", "error"): "what a provider said may repeat a user's words, so it was removed",
    ("memories", "expires_at"): "never is null, no longer infinity",
    ("memories", "content_hash"): "memories that differ in kinds of blanks are one",
}
"""The columns that an upgrade changes, and why. Everything else stays as it was."""


def rows(api: Api) -> Rows:
    """All rows of all tables, each under its primary key, or under itself where there is none."""
    key = """
        select a.attname::text from pg_index as i
        join pg_attribute as a on a.attrelid = i.indrelid and a.attnum = any (i.indkey)
        where i.indisprimary and i.indrelid = %(table)s::regclass order by 1"""
    found: Rows = {}
    for [table] in api.query(TABLES):
        columns = [row.attname for row in api.query(key, table=f"memory.{table}")]
        values = [row for [row] in api.query(f"select to_jsonb(t) from memory.{table} as t")]
        found[table] = {json.dumps([row[column] for column in columns or sorted(row)]): row for row in values}
    return found


def test_every_row_stays_and_keeps_its_values(restore: Callable[[str], str], version: str) -> None:
    dsn = restore(version)
    with open_as(dsn) as connection:
        api = Api(connection)
        before = rows(api)
        log = api.retrieve_artifact(user_id=ANA["user_id"], key="log")
    install(dsn)
    with open_as(dsn) as connection:
        api = Api(connection)
        after = rows(api)
        assert api.retrieve_artifact(user_id=ANA["user_id"], key="log") == log
    assert all(before.values())
    lost = [(table, key) for table in before for key in before[table] if key not in after[table]]
    # Embeddings of artifacts belong to their parts. A job makes those of an artifact that became several parts.
    assert [key for table, key in lost if table != "embeddings" or "artifact" not in key] == []
    changed = {
        (table, column)
        for table, old in before.items()
        for key, row in old.items()
        if key in after[table]
        for column, value in row.items()
        if column not in after[table][key] or after[table][key][column] != value
    }
    assert changed <= CHANGED.keys()
    # Jobs of new kinds may come, and what happened is recorded; nothing else is added to tables that were there.
    added = {table for table, old in before.items() if len(after[table]) > len(old)}
    assert added <= {"migrations", "jobs", "marks", "audit"}


def test_the_upgraded_database_works_and_doctor_is_content(restore: Callable[[str], str], version: str) -> None:
    dsn = restore(version)
    install(dsn)
    with open_as(dsn) as connection:
        api = Api(connection)
        next_seq = api.value("select next_seq from memory.threads where thread_id = %(id)s", id=ANA["thread_id"])
        assert api.add_message(**ANA, role="user", content="Back again").seq == next_seq
        assert api.add_message(**ANA, role="user", content="Grüße ☕ 我喜欢茶", idempotency_key="k1").seq < next_seq
        contents = [message.content for message in api.get_messages(**ANA)]
        assert {"question 0", "Grüße ☕ 我喜欢茶", "Be kind.", "Back again"} <= set(contents)
        api.query("update memory.jobs set lease_expires_at = now() where status = 'running' returning 1")
        while api.finish_jobs() or any(api.sweep()[count] for count in ("queued", "checked")):
            pass
        failing = {"dead jobs", "models"}  # which the dump has
        assert {check.check_name for check in api.doctor() if not check.ok} <= failing
        [found] = api.search(user_id=ANA["user_id"], query="Ghent", mode="keyword", top_k=1)
        assert found.content == "Works in\u00a0Ghent"


def test_its_users_are_moved_into_a_new_installation(restore: Callable[[str], str], dsn: str, version: str) -> None:
    upgraded = restore(version)
    install(upgraded)
    with open_as(upgraded) as source, open_as(dsn) as target:
        results = [result for result in move(source, target) if result.user_id]
        assert {result.outcome for result in results} == {"moved"}
        assert {user.user_id for user in Api(target).list_users()} == {result.user_id for result in results}


@pytest.mark.feature("F9")
def test_texts_from_before_are_parsed_anew_by_their_own_language(restore: Callable[[str], str], version: str) -> None:
    dsn = restore(version)
    with open_as(dsn) as connection:
        Api(connection).add_memory(user_id="kurt", content="Ich mag die alten Häuser nicht")
    install(dsn)
    with open_as(dsn) as connection:
        api = Api(connection)

        def found(query: str) -> list[str]:
            return [row.content for row in api.search(user_id="kurt", query=query, mode="keyword")]

        assert found("Häuser") == ["Ich mag die alten Häuser nicht"]
        while api.finish_jobs() or any(api.sweep()[count] for count in ("queued", "checked")):
            pass
        assert found("Ist das Haus nicht alt?") == ["Ich mag die alten Häuser nicht"]
        assert "haus" in api.value("select search_vector::text from memory.memories where user_id = 'kurt'")
        assert api.query("select from memory.marks where kind in ('language', 'parsed_anew')") == []


def test_an_embedding_belongs_to_its_own_artifact_whatever_the_keys(
    restore: Callable[[str], str], version: str
) -> None:
    """The part of artifact "a" gets the id "a/0", which may be the key of another artifact."""
    dsn = restore(version)
    with open_as(dsn) as connection:
        api = Api(connection)
        for key, direction in (("a", "[1,0,0]"), ("a/0", "[0,1,0]")):
            api.store_artifact(user_id="kurt", content=f"content of {key}", description="d", key=key)
            api.query(
                "insert into memory.embeddings (user_id, model, source, id, embedding, created_at)"
                " values ('kurt', 'm', 'artifact', %(key)s, %(direction)s, now()) returning 1",
                key=key,
                direction=direction,
            )
    install(dsn)
    with open_as(dsn) as connection:
        found = Api(connection).query(
            "select id, embedding::text from memory.embeddings where user_id = 'kurt' order by id"
        )
    assert [tuple(row) for row in found] == [("a/0", "[1,0,0]"), ("a/0/0", "[0,1,0]")]


def test_triggers_of_others_keep_their_state(restore: Callable[[str], str], version: str) -> None:
    dsn = restore(version)
    states = {"off": "disable", "local": "enable replica", "ever": "enable always", "usual": "enable"}
    with open_as(dsn) as connection:
        connection.execute("create function public.refuse() returns trigger language plpgsql as"
                           " $$ begin raise exception 'no'; end; $$")  # fmt: skip
        for table in ("messages", "memories", "artifacts"):
            for name, state in states.items():
                connection.execute(
                    f"create trigger {name} before update on memory.{table} for each row when (new.user_id = 'nobody')"
                    f" execute function public.refuse(); alter table memory.{table} {state} trigger {name}"
                )
    install(dsn)
    with open_as(dsn) as connection:
        kept = Api(connection).query(
            "select tgname::text, tgenabled::text, count(*) from pg_trigger where tgname = any (%(names)s)"
            " group by tgname, tgenabled",
            names=list(states),
        )
    assert {tuple(row) for row in kept} == {("off", "D", 3), ("local", "R", 3), ("ever", "A", 3), ("usual", "O", 3)}
