"""Storing long texts: each is kept whole under a key, with a description and a placeholder."""

from __future__ import annotations

import json
import re
from typing import Any

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.artifacts.steps import LOG, embed, embedded, found, read, search, store
from tests.support.protocol import activate, open_jobs
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("C1", "C3")
def test_an_artifact_is_kept_whole_and_gets_a_placeholder(api: Api) -> None:
    stored = store(api, description="NPM Install Output", key="cmd_log_123")
    tokens = (len(LOG) + 3) // 4
    assert stored == ("cmd_log_123", f"[MemoryRef: cmd_log_123 - NPM Install Output - {tokens} tokens]", tokens)
    assert read(api, "cmd_log_123") == LOG
    assert read(api, f" {stored.memory_ref}\n") == LOG


@pytest.mark.feature("C3")
def test_an_artifact_keeps_every_argument(api: Api) -> None:
    given = {
        "key": "src/app.py@v1", "artifact_type": "file", "agent_id": "coder", "thread_id": "t1",
        "metadata": {"command": "cat src/app.py", "exit": 0}, "description": "The app",
    }  # fmt: skip
    stored = store(api, "import os", expires_at="2999-01-01T00:00:00Z", **given)
    [row] = api.list_artifacts(user_id="ana")
    assert {name: getattr(row, name) for name in given} == given
    assert (row.memory_ref, row.token_count, row.total_count) == (stored.memory_ref, 3, 1)
    assert (row.expires_at.year, abs((api.value("select now()") - row.created_at).total_seconds()) < 60) == (2999, True)
    store(api, "import os", metadata=None)
    plain = api.list_artifacts(user_id="ana")[0]
    assert (plain.artifact_type, plain.agent_id, plain.thread_id) == ("command_output", "default", None)
    assert (plain.metadata, plain.expires_at) == ({}, None)


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("arguments", "slug"),
    [
        ({"description": "NPM Install: Output!"}, "npm-install-output"),
        ({"content": "Traceback (most recent call last):"}, "traceback-most-recent-call-last"),
        ({"description": "安装输出", "artifact_type": "文件"}, "artifact"),
        ({"description": f"{'x' * 39} y"}, "x" * 39),
    ],
)
def test_a_key_is_made_of_the_description(api: Api, arguments: dict[str, Any], slug: str) -> None:
    stored = [store(api, **arguments) for _ in range(5)]
    assert all(re.fullmatch(rf"{slug}-[0-9a-f]{{6}}", row.key) for row in stored)
    assert len({row.key for row in stored}) == 5


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        ("2998-01-01", "2999-01-01", "2999-01-01"),
        ("2999-01-01", "2998-01-01", "2999-01-01"),
        ("2999-01-01", None, None),
    ],
)
def test_storing_the_same_content_under_its_key_again_keeps_the_later_expiry_and_nothing_else(
    api: Api, first: str | None, second: str | None, kept: str | None
) -> None:
    activate(api, "ada", "embedding")
    stored = store(api, key="log", description="First", expires_at=first)
    embed(api)
    rest = "select to_jsonb(a) - 'expires_at' from memory.artifacts as a"
    before, others = api.value(rest), api.state()
    assert store(api, key="log", description="Second", agent_id="cook", expires_at=second) == stored
    assert api.value("select expires_at is not distinct from %(kept)s from memory.artifacts", kept=kept)
    assert api.value(rest) == before
    assert {**api.state(), **{changed: others[changed] for changed in ("artifacts", "texts")}} == others


@pytest.mark.feature("C3")
def test_an_expired_artifact_leaves_its_key_free(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, "one", key="log")
    embed(api)
    api.connection.execute("update memory.artifacts set expires_at = now() - interval '1 second'")
    store(api, "two", key="log")
    assert (read(api, "log"), embedded(api)) == ("two", [])
    assert embed(api) == ["two\ntwo"]


@pytest.mark.feature("C1")
@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" two\t \r\n lines\u00a0\u2028 ", "two lines"),
        ("array[0] [x] - y - 3 tokens]", "array(0) (x) - y - 3 tokens)"),
        ("\x1b[31mred\x1b[0m \x07bell", "red bell"),
    ],
)
def test_a_description_is_one_line_that_cannot_end_the_placeholder(api: Api, given: str, kept: str) -> None:
    stored = store(api, "x", description=given, key="k")
    assert stored.memory_ref == f"[MemoryRef: k - {kept} - 1 tokens]"
    assert api.list_artifacts(user_id="ana")[0].description == kept
    assert api.value("select memory._without_recalled(%(text)s)", text=f"See {stored.memory_ref}!") == "See !"


DESCRIBED: dict[str, tuple[str, dict[str, Any], str]] = {
    "a line": ("added 512 packages\n\nfound 0 vulnerabilities", {}, "added 512 packages"),
    "a title and colours of a terminal": ("\x1b]0;me\x07\x1b[1mTotal:\x1b[0m 3", {}, "Total: 3"),
    "what turns the direction": ("\u200b\n\u202etxt.exe\U000e0041", {}, "txt.exe"),
    "after lines that say nothing": ("\n---===---\n┌─────┐\r\n  \x1b[1mTotal:\x1b[0m  3 ", {}, "Total: 3"),
    "a bar of progress": ("\r[####  ]\r[######] done\n", {}, "(######) done"),
    "no words": ("---\n===\n", {}, "command_output, 2 lines"),
    "a command": ("a\nb\nc\n", {"command": "npm  install\n[x]"}, "npm install (x), 3 lines"),
    "JSON": ('{"name": 1, "id": {"a": [2]}, "z": null}', {}, "JSON object: name, id, z"),
    "JSON with long keys": (json.dumps({"k" * 200: 1}), {}, "JSON object: " + "k" * 84 + "..."),
    "an array": ('[{"id": 1, "b": 2}, {"c": 3}]', {}, "JSON array of 2: id, b"),
    "almost JSON": ('{"name": 1,', {}, '{"name": 1,'),
    "JSON with what jsonb refuses": ('{"a": "\\u0000"}', {}, '{"a": "\\u0000"}'),
    "deep JSON": ("[" * 100_000 + "1", {}, "command_output, 1 line"),
    "lines of JSON": ('{"a": 1}\n{"b": 2}', {}, "JSON lines, 2 objects: a"),
}  # fmt: skip


@pytest.mark.feature("C4")
@pytest.mark.parametrize("case", DESCRIBED)
def test_a_missing_description_is_made_at_once(api: Api, case: str) -> None:
    content, metadata, expected = DESCRIBED[case]
    stored = store(api, content, description=None, metadata=metadata, key="k")
    assert stored.memory_ref == f"[MemoryRef: k - {expected} - {stored.token_count} tokens]"


DIRECT = """
    insert into memory.artifacts (user_id, key, content, description, artifact_type, agent_id, thread_id, metadata)
    values (%(user_id)s, %(key)s, %(content)s, %(description)s, %(artifact_type)s, %(agent_id)s, %(thread_id)s,
            %(metadata)s)
    returning key
"""
ROW = {
    "user_id": "ana", "key": "k", "content": "Tea grows.", "description": "Tea", "artifact_type": "file",
    "agent_id": "cook", "thread_id": "t1", "metadata": Jsonb({}),
}  # fmt: skip


@pytest.mark.feature("C3")
@pytest.mark.parametrize(
    ("column", "bad", "code"),
    [
        ("key", "a b", "22023"),
        ("content", " \n", "22023"),
        ("description", "x" * 501, "54000"),
        ("artifact_type", None, "22023"),
        ("metadata", Jsonb([1]), "22023"),
    ],
)
def test_direct_writes_obey_the_same_rules(api: Api, column: str, bad: Any, code: str) -> None:
    """A direct write is an import with COPY, or an edit in psql."""
    with refused(column, code):
        api.query(DIRECT, **{**ROW, column: bad})
    api.query(DIRECT, **ROW)
    with refused(column, code):
        api.query(f"update memory.artifacts set {column} = %(bad)s returning 1", bad=bad)


@pytest.mark.feature("C3", "C6")
def test_direct_writes_are_found_and_embedded(api: Api) -> None:
    activate(api, "ada", "embedding")
    made = api.value(DIRECT, **{**ROW, "key": None, "description": None, "metadata": None})
    assert re.fullmatch("tea-grows-[0-9a-f]{6}", made)
    api.query(DIRECT, **ROW)
    assert {*embed(api)} == {"Tea grows.\nTea grows.", "Tea\nTea grows."}
    counted = "update memory.artifacts set token_count = 99, metadata = '{\"a\": 1}' returning 1"
    api.query(counted)
    assert {row.token_count for row in api.list_artifacts(user_id="ana")} == {3}
    assert (sorted(found(api, "tea")), len(embedded(api))) == (["k", made], 2)
    assert open_jobs(api) == []
    api.query("update memory.artifacts set content = 'Coffee, hot.', description = null where key = 'k' returning 1")
    assert (found(api, "tea"), found(api, "coffee"), embedded(api)) == ([made], ["k"], [made])
    [row] = search(api, "coffee")
    assert row.content == "[MemoryRef: k - Coffee, hot. - 3 tokens]\nCoffee, hot."
    assert embed(api) == ["Coffee, hot.\nCoffee, hot."]
    for column in ("key", "user_id"):
        with refused("key"):
            api.query(f"update memory.artifacts set {column} = 'other' where key = 'k' returning 1")
    api.query("delete from memory.artifacts returning 1")
    assert (found(api, "coffee"), embedded(api)) == ([], [])


@pytest.mark.feature("C3")
def test_a_role_that_may_insert_artifacts_needs_no_other_right(api: Api) -> None:
    activate(api, "ada", "embedding")
    api.connection.execute("create role writer_of_artifacts")
    api.connection.execute("grant usage on schema memory to writer_of_artifacts")
    api.connection.execute("grant insert (user_id, content) on memory.artifacts to writer_of_artifacts")
    api.connection.execute("set local role writer_of_artifacts")
    api.connection.execute(
        "insert into memory.artifacts (user_id, content) select 'ana', 'Tea ' || n from generate_series(1, 3) as n"
    )
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.query("insert into memory.artifacts (user_id, content, token_count) values ('ana', 'Tea', 0) returning 1")
    api.connection.execute("reset role")
    assert (len(found(api, "tea")), open_jobs(api)) == (3, ["parse_artifacts"])
