"""export_user returns all of a user, and import_user of that restores it."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import psycopg
import pytest

from tests.conftest import Database
from tests.erasure.conftest import ANA, NEEDLE, fill, rows
from tests.erasure.export_schema import PATH, schema
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F5")

Export = dict[str, Any]


@pytest.fixture
def target(_database: Database, _template: str) -> Iterator[Api]:
    """Another database with agent_memory and nothing in it."""
    with _database("target", _template) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        yield Api(connection)


@pytest.fixture(scope="module")
def an_export(_database: Database, _template: str) -> Export:
    """The export of a user with rows of every kind."""
    with _database("source", _template) as dsn, psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        fill(api, ANA, NEEDLE)
        return exported(api)


def exported(api: Api, user_id: str = ANA) -> Export:
    export: Export = api.export_user(user_id=user_id)
    return export


def test_the_published_schema_is_that_of_the_tables(db: psycopg.Connection) -> None:
    assert json.loads(PATH.read_text()) == schema(db), "run: make reference"


def test_an_export_has_every_kind_and_obeys_the_schema(filled: Api) -> None:
    export = exported(filled)
    validator = jsonschema.Draft202012Validator(json.loads(PATH.read_text()))
    assert [error.message for error in validator.iter_errors(export)] == []
    assert {kind for kind, rows in export.items() if rows == []} == set()


def test_an_import_restores_it(filled: Api, target: Api) -> None:
    export = exported(filled)
    # Through JSON as text, as a file would have it.
    counts = target.import_user(user_id=ANA, export=json.loads(json.dumps(export)))
    assert exported(target) == export
    assert counts.pop("left_out") == 0
    assert counts == {kind: len(rows) for kind, rows in export.items() if isinstance(rows, list)}
    for counters in (
        "select * from memory.threads where user_id = %(u)s order by 2",
        "select * from memory.memory_scopes where user_id = %(u)s order by 2",
        "select content_hash from memory.memories where user_id = %(u)s order by memory_id",
        "select id, valid_until::text, words from memory.texts where user_id = %(u)s and number is null order by 1",
    ):
        assert target.query(counters, u=ANA) == filled.query(counters, u=ANA)
    key = {"user_id": ANA, "key": "log"}
    assert target.retrieve_artifact(**key) == filled.retrieve_artifact(**key)
    there = target.search(user_id=ANA, query="green", mode="keyword")
    assert {(row.source, row.id) for row in there} >= {
        (row.source, row.id) for row in filled.search(user_id=ANA, query="green", mode="keyword")
    }
    thread = export["threads"][0]
    added = target.add_message(user_id=ANA, thread_id=thread["thread_id"], role="user", content="On")
    assert added.seq == thread["next_seq"]


def test_an_import_into_a_user_with_rows_is_refused(filled: Api) -> None:
    export = exported(filled)
    with refused("user_id", "23505"):
        filled.import_user(user_id=ANA, export=export)


def test_what_was_forgotten_stays_out_unless_it_is_lifted(filled: Api, connect: Any) -> None:
    export = exported(filled)
    filled.forget_user(user_id=ANA)
    counts = filled.import_user(user_id=ANA, export=export)
    assert counts.pop("left_out") == sum(len(rows) for rows in export.values() if isinstance(rows, list))
    assert set(counts.values()) == {0}
    assert rows(filled, ANA) == {}

    filled.connection.execute("create role helper login; grant usage on schema memory to helper")
    filled.connection.execute("grant execute on function memory.import_user to helper")
    try:
        helper = Api(connect(user="helper"))
        with refused("lift_tombstones", "42501"):
            helper.import_user(user_id=ANA, export=export, lift_tombstones=True)
        filled.connection.execute("set role helper")
        with refused("lift_tombstones", "42501"):
            filled.import_user(user_id=ANA, export=export, lift_tombstones=True)
        filled.connection.execute("reset role")
        # A role that may call it needs no rights on tables.
        newcomer = {"format": "agent_memory user", "format_version": 1, "user_id": "new"}
        messages = [message | {"thread_id": "t"} for message in export["messages"] if message["seq"] == 0][:1]
        threads = [export["threads"][0] | {"thread_id": "t"}]
        helper.import_user(user_id="new", export=newcomer | {"threads": threads, "messages": messages})
    finally:
        filled.connection.execute("reset role; drop owned by helper; drop role helper")
    filled.import_user(user_id=ANA, export=export, lift_tombstones=True)
    assert exported(filled) == export
    filled.delete_thread(user_id=ANA, thread_id=export["threads"][0]["thread_id"])


def test_who_came_back_is_imported_again(filled: Api) -> None:
    old = exported(filled)
    filled.forget_user(user_id=ANA)
    filled.add_message(user_id=ANA, thread_id="new", role="user", content="Hello again")
    new = exported(filled)
    filled.connection.execute("delete from memory.threads where user_id = %s", [ANA])
    filled.connection.execute("delete from memory.jobs where user_id = %s", [ANA])
    both = {kind: (value + new[kind]) if isinstance(value, list) else value for kind, value in old.items()}
    filled.import_user(user_id=ANA, export=both)
    assert [message["content"] for message in exported(filled)["messages"]] == ["Hello again"]


HOSTILE: dict[str, Any] = {
    "not an object": [],
    "another format": {"format": "zip"},
    "a version to come": {"format_version": 2},
    "another user": {"user_id": "bo"},
    "an unknown kind": {"embeddings": []},
    "a kind that is no array": {"messages": {}},
    "a row that is no object": {"messages": [1]},
    "another user's row": {"threads": [{"thread_id": "t", "next_seq": 0, "user_id": "bo"}]},
    "a counter": {"threads": [{"thread_id": "t", "next_seq": 0, "message_count": 5}]},
    "a number that is no number": {"threads": [{"thread_id": "t", "next_seq": "many"}]},
    "a missing member": {"threads": [{"thread_id": None, "next_seq": 0}]},
    "a mark of workers": {"marks": [{"kind": "claims", "scope": "", "position": 1}]},
    "a job to do": {"jobs": [{"kind": "embed", "scope": "", "status": "pending", "attempts": 0}]},
    "an unknown setting": {"policies": [{"agent_id": "", "settings": {"no": {"such": 1}}}]},
    "a secret that is none": {"secrets": [{"name": "n", "key_id": "\\x00", "sealed": "\\x00"}]},
}


def test_a_hostile_export_is_refused_and_nothing_is_stored(api: Api) -> None:
    before = api.state()
    head: Any = {"format": "agent_memory user", "format_version": 1, "user_id": "ana"}
    for change in HOSTILE.values():
        with refused("export"):
            api.import_user(user_id="ana", export=change if isinstance(change, list) else head | change)
    assert api.state() == before


@pytest.mark.parametrize(
    ("kind", "number", "change", "named"),
    [
        ("messages", 3, {"role": "robot"}, "messages[3].role"),
        ("messages", 2, {"created_at": "soon"}, "messages[2]"),
        ("messages", 3, {"seq": 0}, "messages"),
        ("messages", 1, {"thread_id": "nowhere"}, "messages"),
        ("memories", 0, {"memory_type": "x"}, "memories[0].memory_type"),
        ("memory_history", 0, {"memory_id": "00000000-0000-0000-0000-000000000001"}, "memory_history"),
        ("artifacts", 0, {"key": "two words"}, "artifacts[0].key"),
        ("documents", 0, {"content": ""}, "documents[0].content"),
        ("summaries", 0, {"status": "processing"}, "summaries[0].status"),
    ],
)
def test_a_bad_row_is_named(
    api: Api, an_export: Export, kind: str, number: int, change: dict[str, Any], named: str
) -> None:
    export = copy.deepcopy(an_export)
    export[kind][number] |= change
    before = api.state()
    with refused("export") as refusal:
        api.import_user(user_id=ANA, export=export)
    assert str(refusal.value).startswith(f"export: {named}")
    assert api.state() == before


def parts(api: Api, max_rows: int, **arguments: Any) -> list[Export]:
    found = [api.export_user(user_id=ANA, max_rows=max_rows, **arguments)]
    while found[-1]["next"]:
        found.append(api.export_user(user_id=ANA, max_rows=max_rows, after=found[-1]["next"], **arguments))
    return found


@pytest.mark.parametrize("max_rows", [1, 7])
def test_parts_join_to_the_whole(filled: Api, max_rows: int) -> None:
    filled.connection.execute(
        "insert into memory.secret_reads (user_id, name, role, read_at) select %s, n::text, 'app', 'infinity'"
        " from generate_series(1, 5) as n",
        [ANA],
    )
    whole = exported(filled)
    found = parts(filled, max_rows)
    joined: Export = {}
    for part in found:
        assert sum(len(each) for each in part.values() if isinstance(each, list)) <= max_rows
        for name, value in part.items():
            joined[name] = joined.get(name, []) + value if isinstance(value, list) else value
    assert joined.pop("next") is None
    assert joined == whole
    only = parts(filled, max_rows, kinds=["threads", "messages"])
    assert [row for part in only for row in part.get("messages", [])] == whole["messages"]
    assert {kind for part in only for kind in part if kind in whole} == {
        "format", "format_version", "user_id", "threads", "messages",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("arguments", "refused_one"),
    [
        ({"kinds": ["embeddings"]}, "kinds"),
        ({"max_rows": 0}, "max_rows"),
        ({"after": {"kind": "messages", "key": None}}, "max_rows"),
        ({"max_rows": 5, "after": {}}, "after"),
        ({"max_rows": 5, "kinds": ["threads"], "after": {"kind": "messages", "key": None}}, "after"),
        ({"max_rows": 5, "after": {"kind": "messages", "key": ["t", "first"]}}, "after"),
    ],
)
def test_an_impossible_part_is_refused(api: Api, arguments: dict[str, Any], refused_one: str) -> None:
    with refused(refused_one):
        api.export_user(user_id="ana", **arguments)


def test_an_import_takes_parts_in_one_transaction(filled: Api, target: Api) -> None:
    whole, found = exported(filled), parts(filled, 5)
    # The summary that another one goes on from may come later.
    for part in found:
        for summary in part.get("summaries", []):
            others = [each["summary_id"] for each in whole["summaries"] if each["kind"] == summary["kind"]]
            summary["base_summary_id"] = max(others) if summary["summary_id"] != max(others) else None
    with target.connection.transaction():
        for part in found[:-1]:
            target.import_user(user_id=ANA, export=part, is_last=False)
        with refused("user_id"):
            target.import_user(user_id="bo", export={**found[0], "user_id": "bo"})
        counts = target.import_user(user_id=ANA, export=found[-1])
    assert counts == {kind: len(rows) for kind, rows in whole.items() if isinstance(rows, list)} | {"left_out": 0}
    assert {**exported(target), "summaries": []} == {**whole, "summaries": []}
    assert target.query("select * from memory.imports") == []
    assert target.query("select message_count from memory.threads order by thread_id") == filled.query(
        "select message_count from memory.threads where user_id = %(u)s order by thread_id", u=ANA
    )


def test_parts_without_the_last_one_are_not_stored(filled: Api, target: Api) -> None:
    part = parts(filled, 5)[0]
    with refused("is_last"):
        target.import_user(user_id=ANA, export=part, is_last=False)
    assert rows(target, ANA) == {}


def test_a_forgotten_statement_stays_out_with_what_was_made_of_it_and_also_in_parts(filled: Api) -> None:
    export, found = exported(filled), parts(filled, 5)
    [memory] = [memory for memory in export["memories"] if memory["source"] == "extraction"]
    filled.forget_memory(user_id=ANA, memory_id=memory["memory_id"])
    for _ in range(2):
        for table in rows(filled, ANA).keys() - {"audit"}:
            filled.connection.execute(f"delete from memory.{table} where user_id = %s", [ANA])
    with filled.connection.transaction(force_rollback=True):
        whole = filled.import_user(user_id=ANA, export=export)
        after = exported(filled)
    assert whole["left_out"] >= 3
    assert memory["content"] not in [each["content"] for each in after["memories"]]
    [seq] = memory["source_seqs"]
    assert seq not in [each["seq"] for each in after["messages"] if each["thread_id"] == memory["thread_id"]]
    assert after["summaries"] == []
    assert len(after["memories"]) == len(export["memories"]) - 1
    with filled.connection.transaction():
        for part in found[:-1]:
            filled.import_user(user_id=ANA, export=part, is_last=False)
        assert filled.import_user(user_id=ANA, export=found[-1]) == whole
    assert exported(filled) == after


def test_an_export_that_is_too_large_names_the_way_in_parts(api: Api) -> None:
    api.talk("ana", "t", rounds=20)
    api.connection.execute(
        "create or replace function memory._max_export_bytes() returns int language sql immutable parallel safe"
        " begin atomic select 5000; end"
    )
    with refused("user_id", "54000") as refusal:
        api.export_user(user_id="ana")
    assert "agent-memory users export" in str(refusal.value.diag.message_hint)
    assert len(api.export_user(user_id="ana", kinds=["messages"], max_rows=5)["messages"]) == 5


def test_a_part_ends_where_its_rows_are_large(api: Api) -> None:
    for _ in range(5):
        api.add_message(user_id="ana", thread_id="t", role="user", content="x" * 9_000_000)
    part = api.export_user(user_id="ana", kinds=["messages"], max_rows=100)
    assert len(part["messages"]) == 3
    rest = api.export_user(user_id="ana", kinds=["messages"], max_rows=100, after=part["next"])
    assert (len(rest["messages"]), rest["next"]) == (2, None)
