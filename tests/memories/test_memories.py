"""Long-term memories: stored once, listed, changed, undone, limited, counted and cleaned up."""

from __future__ import annotations

import hashlib
import itertools
import subprocess
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any
from uuid import UUID, uuid4

import psycopg
import pytest
from psycopg import errors

from tests.support.servers import Server
from tests.support.sqlapi import OLD_STRINGS, Api, refused

TYPES = ["fact", "preference", "context", "procedural", "episodic", "conversation_summary"]
LATER = datetime.now(timezone.utc) + timedelta(days=1)

COUNTERS = """
select s.user_id, s.agent_id, s.memory_count, count(m.memory_id) as stored
from memory.memory_scopes as s
left join memory.memories as m
  on m.user_id = s.user_id and m.agent_id = s.agent_id and m.superseded_at is null and m.deleted_at is null
group by s.user_id, s.agent_id
"""


@pytest.fixture
def api(db: psycopg.Connection) -> Api:
    return Api(db)


def add(api: Api, content: str, **arguments: Any) -> UUID:
    stored: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    return stored


def contents(api: Api, **arguments: Any) -> list[str]:
    return [row.content for row in api.list_memories(**{"user_id": "ana", **arguments})]


def expire(api: Api, memory_id: UUID) -> None:
    """Let the time run out that a memory had."""
    api.update_memory(user_id="ana", memory_id=memory_id, expires_at=datetime.now(timezone.utc) - timedelta(seconds=1))


def limit(api: Api, max_per_agent: int, **level: str) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": max_per_agent}}, **level)


# Types ----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B1", "E1")
@pytest.mark.parametrize("memory_type", TYPES)
def test_each_memory_type_can_be_stored_and_listed(api: Api, memory_type: str) -> None:
    add(api, "Something worth keeping", memory_type=memory_type)
    assert contents(api, memory_type=memory_type) == ["Something worth keeping"]


@pytest.mark.feature("B1")
@pytest.mark.parametrize(
    "statement",
    [
        "select memory.add_memory(user_id => 'ana', content => 'x', memory_type => 'opinion')",
        "insert into memory.memories (user_id, content, memory_type) values ('ana', 'x', 'opinion')",
        "select memory.add_memory(user_id => 'ana', content => 'x', memory_type => null)",
    ],
)
def test_an_unknown_type_is_refused_with_the_list_of_known_ones(db: psycopg.Connection, statement: str) -> None:
    with pytest.raises(errors.InvalidParameterValue, match=r"^memory_type: ") as refusal:
        db.execute(statement)
    assert ", ".join(TYPES) in (refusal.value.diag.message_hint or "")


@pytest.mark.feature("B1")
def test_a_type_is_added_by_inserting_it(api: Api) -> None:
    api.connection.execute("insert into memory.memory_types values ('allergy', 'Allergies', 'What makes the user ill')")
    add(api, "Cannot eat peanuts", memory_type="allergy")
    assert "**Allergies:**\n1. Cannot eat peanuts" in api.render_memories(user_id="ana")


# Storing --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B2", "A3")
def test_a_memory_keeps_everything_it_was_given(api: Api) -> None:
    given = {
        "content": "Prefers e-mail — ☕ 日本",
        "memory_type": "preference",
        "agent_id": "support",
        "thread_id": "t1",
        "metadata": {"source": "settings", "nested": {"a": [1, None]}},
        "tags": ["contact", "it's"],
        "confidence": 0.5,
        "importance": 0.25,
        "valid_from": datetime(2024, 1, 1, tzinfo=timezone.utc),
        "valid_to": datetime(2090, 1, 1, tzinfo=timezone.utc),
        "expires_at": LATER,
    }
    stored = api.add_memory(user_id="ana", embedding_text="mail, not phone", source="crm", **given)
    read = api.get_memory(user_id="ana", memory_id=stored.memory_id)
    assert stored.inserted
    assert {name: getattr(read, name) for name in given} == given
    assert (read.version, read.superseded_by, read.total_count) == (1, None, 1)
    assert read.created_at == read.updated_at
    assert api.list_memories(user_id="ana") == [read]
    assert api.query("select embedding_text, source from memory.memories") == [("mail, not phone", "crm")]


@pytest.mark.parametrize(
    "statement",
    [
        "select memory.add_memory(user_id => 'ana', content => 'x', confidence => %(share)s, importance => %(share)s)",
        "select memory.update_memory(user_id => 'ana', memory_id => %(memory_id)s,"
        " confidence => %(share)s, importance => %(share)s)",
        "select memory.search(user_id => 'ana', query => 'tea', min_score => %(share)s, min_confidence => %(share)s)",
    ],
    ids=["add_memory", "update_memory", "search"],
)
def test_shares_may_be_double_precision(api: Api, statement: str) -> None:
    """Which is what drivers send for a number of their language, and no call with it becomes one with a real."""
    api.connection.execute(statement.encode(), {"memory_id": add(api, "Likes tea"), "share": 0.7})


@pytest.mark.feature("B2")
def test_a_memory_lives_as_long_as_the_policy_says(api: Api) -> None:
    api.set_policy(settings={"memories": {"expires_after": "30 days"}}, agent_id="short")
    lifetime = "select expires_at - created_at from memory.memories where memory_id = %(memory_id)s"
    assert api.value(lifetime, memory_id=add(api, "by policy", agent_id="short")) == timedelta(days=30)
    assert api.value(lifetime, memory_id=add(api, "by default")) is None


# Listing --------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B3", "A3")
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({}, ["a\\b", "100% sure", "snake_case", "Likes Tea", "Name is Ana"]),
        ({"memory_type": "preference"}, ["Likes Tea"]),
        ({"search": "tea"}, ["Likes Tea"]),
        ({"search": "BEVERAGE"}, ["Likes Tea"]),
        ({"search": "%"}, ["100% sure"]),
        ({"search": "_"}, ["snake_case"]),
        ({"search": "\\"}, ["a\\b"]),
        ({"search": "t%a"}, []),
        ({"search": "a", "memory_type": "fact"}, ["a\\b", "snake_case", "Name is Ana"]),
        ({"tags_all": ["x"]}, ["snake_case", "Likes Tea"]),
        ({"tags_all": ["x", "y"]}, ["Likes Tea"]),
        ({"agent_id": "other"}, ["100% sure"]),
        ({"user_id": "bob"}, ["Likes tea as well"]),
        ({"user_id": "nobody"}, []),
    ],
)
def test_lists_are_filtered_newest_first(api: Api, filters: dict[str, Any], expected: list[str]) -> None:
    add(api, "Name is Ana")
    add(api, "Likes Tea", memory_type="preference", embedding_text="favourite beverage", tags=["x", "y"])
    add(api, "snake_case", tags=["x"])
    add(api, "100% sure", agent_id="other")
    add(api, "a\\b")
    add(api, "Likes tea as well", user_id="bob")
    assert contents(api, **filters) == expected


@pytest.mark.feature("B3")
def test_a_count_is_that_of_the_list_on_whatever_page(api: Api) -> None:
    for number in range(3):
        add(api, f"fact {number}", tags=["a"], agent_id="support", importance=number / 10)
    add(api, "likes tea", memory_type="preference")
    api.delete_memory(user_id="ana", memory_id=add(api, "gone"))
    old, new = add(api, "old"), add(api, "new")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    add(api, "of someone else", user_id="bob")
    filters: list[dict[str, Any]] = [
        {},
        {"agent_id": "support"},
        {"memory_type": "preference"},
        {"search": "FACT"},
        {"tags_all": ["a"]},
        {"include_superseded": True},
        {"as_of": "2020-01-01"},
        {"search": "nothing"},
    ]
    counts = [api.count_memories(user_id="ana", **each) for each in filters]
    assert counts == [len(api.list_memories(user_id="ana", **each)) for each in filters] == [5, 3, 1, 3, 3, 6, 0, 0]
    assert api.list_memories(user_id="ana", row_offset=10) == []


@pytest.mark.feature("B3")
def test_pages_are_of_50_and_name_the_total_of_the_whole_match(api: Api) -> None:
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'no. ' || n from generate_series(1, 120) n"
    )
    add(api, "Something else", memory_type="context")
    first = api.list_memories(user_id="ana", memory_type="fact")
    third = api.list_memories(user_id="ana", memory_type="fact", row_offset=100)
    assert [row.content for row in first] == [f"no. {n}" for n in range(120, 70, -1)]
    assert [row.content for row in third] == [f"no. {n}" for n in range(20, 0, -1)]
    assert {row.total_count for row in first + third} == {120}
    assert len(api.list_memories(user_id="ana", row_limit=7)) == 7


# One function for each endpoint of the HTTP service whose features these are; arguments by name, no driver.
@pytest.mark.feature("B13")
@pytest.mark.parametrize(
    ("statement", "expected"),
    [
        (
            "select inserted from memory.add_memory(user_id => 'ana', agent_id => 'abc', memory_type => 'fact',"
            """ content => 'Likes mail', metadata => '{"tags": ["a"]}', embedding_text => 'mail',"""
            " expires_at => '2099-12-31T23:59:59Z')",
            "t",
        ),
        (
            "select content, total_count from memory.list_memories(user_id => 'ana', agent_id => 'abc',"
            " memory_type => 'fact', search => 'email', row_limit => 50, row_offset => 0)",
            "Prefers email|1",
        ),
        (
            "select memory.delete_memory(user_id => 'ana', memory_id => m.memory_id)"
            " from memory.list_memories(user_id => 'ana') as m",
            "t",
        ),
        ("select memory.extract_memories(user_id => 'ana', thread_id => 't1') > 0", "t"),
        ("select memory.sweep(batch_size => 1000) ->> 'memories'", "0"),
    ],
    ids=["store", "list", "delete", "summarize", "cleanup"],
)
def test_psql_can_do_all_that_the_client_does(
    server: Server, dsn: str, api: Api, statement: str, expected: str
) -> None:
    add(api, "Prefers email", agent_id="abc")
    api.add_message(user_id="ana", thread_id="t1", role="user", content="Hello")
    command = [str(server.bin_dir / "psql"), dsn, "-XAt", "--variable=ON_ERROR_STOP=1", "--command", statement]
    assert subprocess.run(command, check=True, capture_output=True, text=True).stdout == expected + "\n"


# Exact duplicates -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    "content",
    ["Likes tea", "  LIKES\t\n Tea ", "grüße aus köln", "日本 — ☕", "x" * 10000],
    ids=lambda content: content[:8].strip(),
)
def test_the_hash_is_that_of_the_lower_case_single_spaced_content(api: Api, content: str) -> None:
    add(api, content)
    normalised = " ".join(content.lower().split())
    expected = hashlib.sha256(normalised.encode()).hexdigest()[:32]
    assert api.value("select content_hash from memory.memories") == expected


@pytest.mark.feature("E12")
def test_the_hash_is_the_same_whatever_strings_mean_in_the_session(
    api: Api, connect: Callable[..., psycopg.Connection]
) -> None:
    """And so is what counts as blank: only spaces of all kinds."""
    first = add(api, "uses less sugar")
    again = Api(connect(options=OLD_STRINGS)).add_memory(user_id="ana", content="Uses\tless  sugar")
    assert (again.memory_id, again.inserted) == (first, False)
    assert Api(connect(options=OLD_STRINGS)).add_memory(user_id="ana", content="likes tea").inserted


@pytest.mark.feature("E12")
def test_a_repetition_is_skipped_and_counted(api: Api) -> None:
    first = api.add_memory(user_id="ana", content="Likes tea", importance=0.9)
    again = api.add_memory(user_id="ana", content="  likes   TEA", importance=0.1)
    assert (again.memory_id, again.inserted) == (first.memory_id, False)
    assert api.get_memory(user_id="ana", memory_id=first.memory_id).importance == pytest.approx(0.9)
    assert api.query("select memory_count, duplicates_skipped from memory.memory_scopes") == [(1, 1)]


@pytest.mark.feature("E12")
@pytest.mark.parametrize("other", [{"user_id": "bob"}, {"agent_id": "other"}, {"memory_type": "preference"}])
def test_the_same_words_elsewhere_are_no_repetition(api: Api, other: dict[str, str]) -> None:
    add(api, "Likes tea")
    assert api.add_memory(**{"user_id": "ana", "content": "Likes tea", **other}).inserted


@pytest.mark.feature("E12")
def test_a_constraint_refuses_a_repetition_inserted_directly(api: Api) -> None:
    add(api, "Likes tea")
    with pytest.raises(errors.UniqueViolation) as refusal:
        api.connection.execute("insert into memory.memories (user_id, content) values ('ana', 'likes  tea')")
    assert refusal.value.diag.constraint_name == "memories_content_hash_idx"


@pytest.mark.feature("E12")
def test_on_conflict_replace_updates_in_place(api: Api) -> None:
    first = add(api, "likes tea", importance=0.1, tags=["old"])
    again = api.add_memory(user_id="ana", content="Likes tea", importance=0.9, on_conflict="replace")
    read = api.get_memory(user_id="ana", memory_id=first)
    assert (again.memory_id, again.inserted) == (first, False)
    assert (read.content, read.tags, read.version) == ("Likes tea", [], 2)
    assert read.importance == pytest.approx(0.9)


@pytest.mark.feature("E12")
def test_on_conflict_error_refuses(api: Api) -> None:
    first = add(api, "Likes tea")
    with pytest.raises(errors.UniqueViolation, match=f"^content: .*{first}"):
        add(api, "Likes tea", on_conflict="error")


@pytest.mark.feature("E12")
@pytest.mark.parametrize("fate", ["expired", "deleted", "superseded"])
@pytest.mark.parametrize("on_conflict", ["ignore", "replace", "error"])
def test_a_memory_that_is_gone_does_not_block_the_same_words(api: Api, fate: str, on_conflict: str) -> None:
    gone = add(api, "Likes tea")
    if fate == "expired":
        expire(api, gone)
    elif fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=gone)
    else:
        api.supersede_memory(
            user_id="ana", old_memory_id=gone, new_memory_id=add(api, "Likes coffee"), reason="changed"
        )
    again = api.add_memory(user_id="ana", content="Likes tea", on_conflict=on_conflict)
    assert again.inserted
    assert again.memory_id != gone


# Updates, versions, history -------------------------------------------------------------------------------------------


def test_an_update_changes_what_it_names_and_returns_the_new_version(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", metadata={"a": 1}, tags=["home"], confidence=0.5, expires_at=LATER)
    before = api.get_memory(user_id="ana", memory_id=memory_id)
    assert api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen") == 2
    after = api.get_memory(user_id="ana", memory_id=memory_id)
    assert after == before._replace(content="Lives in Bergen", version=2, updated_at=after.updated_at)
    assert after.updated_at > before.updated_at


def test_an_update_is_found_by_its_new_words_only(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo")
    api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen")
    assert [hit.id for hit in api.search(user_id="ana", query="bergen", mode="keyword")] == [str(memory_id)]
    assert api.search(user_id="ana", query="oslo", mode="keyword") == []


@pytest.mark.feature("F3")
def test_an_update_of_a_stale_version_is_refused(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo")
    assert api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen", expected_version=1) == 2
    with refused("expected_version", "40001"):
        api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Rome", expected_version=1)
    assert contents(api) == ["Lives in Bergen"]


def test_an_update_cannot_make_a_repetition(api: Api) -> None:
    add(api, "Lives in Oslo")
    memory_id = add(api, "Lives in Bergen")
    with refused("content", "23505"):
        api.update_memory(user_id="ana", memory_id=memory_id, content="lives in OSLO")


def test_an_expiry_can_be_taken_away(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", expires_at=LATER)
    api.update_memory(user_id="ana", memory_id=memory_id, expires_at="infinity")
    assert api.get_memory(user_id="ana", memory_id=memory_id).expires_at is None
    assert api.sweep()["memories"] == 0


@pytest.mark.feature("A3")
@pytest.mark.parametrize("user_id", ["ana", "bob"])
@pytest.mark.parametrize("function", ["get_memory", "update_memory", "restore_memory", "get_memory_history"])
def test_a_memory_of_someone_else_is_as_unknown_as_one_that_never_was(api: Api, function: str, user_id: str) -> None:
    of_ana = add(api, "Likes tea")
    before = api.state()
    with refused("memory_id", "P0002"):
        getattr(api, function)(user_id=user_id, memory_id=uuid4() if user_id == "ana" else of_ana)
    assert api.state() == before


@pytest.mark.feature("F3")
def test_history_shows_every_version_with_what_was_done_and_by_whom(api: Api, connect: Callable[..., Any]) -> None:
    memory_id = add(api, "Lives in Oslo")
    newer = add(api, "Lives in Rome")
    api.connection.execute("create role clerk login superuser")
    try:
        Api(connect(user="clerk")).update_memory(
            user_id="ana", memory_id=memory_id, content="Lives in Bergen", metadata={"a": 1}
        )
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=newer, reason="moved")
        api.restore_memory(user_id="ana", memory_id=memory_id)
        api.delete_memory(user_id="ana", memory_id=memory_id)
        api.restore_memory(user_id="ana", memory_id=memory_id, version=1)
        history = api.get_memory_history(user_id="ana", memory_id=memory_id)
    finally:
        api.connection.execute("drop role clerk")
    assert [(row.version, row.operation, row.content, row.changed_by) for row in history] == [
        (1, "insert", "Lives in Oslo", "postgres"),
        (2, "update", "Lives in Bergen", "clerk"),
        (3, "supersede", "Lives in Bergen", "postgres"),
        (4, "restore", "Lives in Bergen", "postgres"),
        (5, "delete", "Lives in Bergen", "postgres"),
        (6, "restore", "Lives in Oslo", "postgres"),
    ]
    assert [row.metadata for row in history] == [{}, *[{"a": 1}] * 4, {}]
    assert [row.changed_at for row in history] == sorted(row.changed_at for row in history)


def test_an_update_by_plain_sql_is_in_the_history_too(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo")
    api.connection.execute("update memory.memories set content = 'Lives in Bergen'")
    history = api.get_memory_history(user_id="ana", memory_id=memory_id)
    assert [(row.version, row.operation, row.content) for row in history] == [
        (1, "insert", "Lives in Oslo"),
        (2, "update", "Lives in Bergen"),
    ]


@pytest.mark.parametrize("column", ["user_id", "agent_id"])
def test_a_memory_cannot_be_moved_by_plain_sql(api: Api, column: str) -> None:
    add(api, "Lives in Oslo")
    with refused("memory_id"):
        api.query(f"update memory.memories set {column} = 'other' returning 1")


# Deleting, superseding, undoing ---------------------------------------------------------------------------------------


@pytest.mark.feature("B4", "A3")
def test_deleting_says_whether_there_was_one(api: Api) -> None:
    memory_id = add(api, "Likes tea")
    assert not api.delete_memory(user_id="bob", memory_id=memory_id)
    assert not api.delete_memory(user_id="ana", memory_id=uuid4())
    assert contents(api) == ["Likes tea"]
    assert api.delete_memory(user_id="ana", memory_id=memory_id)
    assert not api.delete_memory(user_id="ana", memory_id=memory_id)
    assert contents(api) == []


def test_a_deleted_memory_can_be_restored_until_it_is_swept(api: Api) -> None:
    memory_id = add(api, "Likes tea")
    api.delete_memory(user_id="ana", memory_id=memory_id)
    assert api.restore_memory(user_id="ana", memory_id=memory_id) == 3
    assert contents(api) == ["Likes tea"]
    api.delete_memory(user_id="ana", memory_id=memory_id)
    assert api.sweep()["memories"] == 1
    with refused("memory_id", "P0002"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


def test_a_superseded_memory_is_hidden_and_says_by_what_and_why(api: Api) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Bergen")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    assert contents(api) == ["Lives in Bergen"]
    assert api.search(user_id="ana", query="oslo", mode="keyword") == []
    assert "Oslo" not in api.render_memories(user_id="ana")
    [_, loser] = api.list_memories(user_id="ana", include_superseded=True)
    assert (loser.superseded_by, loser.supersede_reason) == (new, "moved")
    assert loser.superseded_at > loser.created_at
    assert api.get_memory(user_id="ana", memory_id=old) == loser._replace(total_count=1)


@pytest.mark.feature("F3")
def test_a_supersede_can_be_undone(api: Api) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Bergen")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    api.restore_memory(user_id="ana", memory_id=old)
    read = api.get_memory(user_id="ana", memory_id=old)
    assert (read.superseded_by, read.supersede_reason, read.superseded_at) == (None, None, None)
    assert contents(api) == ["Lives in Bergen", "Lives in Oslo"]


@pytest.mark.parametrize(
    ("old", "new", "reason", "argument", "code"),
    [
        ("one", "one", "same", "new_memory_id", "22023"),
        ("one", "none", "unknown", "new_memory_id", "P0002"),
        ("none", "one", "unknown", "old_memory_id", "P0002"),
        ("one", "of_bob", "not ours", "new_memory_id", "P0002"),
        ("gone", "one", "again", "old_memory_id", "P0002"),
        ("one", "gone", "by one that is superseded", "new_memory_id", "P0002"),
    ],
)
def test_a_supersede_that_makes_no_sense_is_refused(
    api: Api, old: str, new: str, reason: str, argument: str, code: str
) -> None:
    ids = {"one": add(api, "one"), "two": add(api, "two"), "gone": add(api, "gone"), "none": uuid4()}
    ids["of_bob"] = add(api, "of bob", user_id="bob")
    api.supersede_memory(user_id="ana", old_memory_id=ids["gone"], new_memory_id=ids["two"], reason="first")
    with refused(argument, code):
        api.supersede_memory(user_id="ana", old_memory_id=ids[old], new_memory_id=ids[new], reason=reason)


@pytest.mark.feature("F3")
def test_an_earlier_version_can_be_restored(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", tags=["home"], importance=0.25)
    api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen", tags=[], importance=0.5)
    assert api.restore_memory(user_id="ana", memory_id=memory_id, version=1) == 3
    read = api.get_memory(user_id="ana", memory_id=memory_id)
    assert (read.content, read.tags, read.importance) == ("Lives in Oslo", ["home"], 0.25)
    assert [hit.id for hit in api.search(user_id="ana", query="oslo", mode="keyword")] == [str(memory_id)]


def test_a_version_that_never_was_cannot_be_restored(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo")
    with refused("version", "P0002"):
        api.restore_memory(user_id="ana", memory_id=memory_id, version=7)


@pytest.mark.parametrize("fate", ["deleted", "superseded"])
def test_nothing_is_restored_beside_the_same_words_stored_since(api: Api, fate: str) -> None:
    memory_id = add(api, "Likes tea")
    if fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=memory_id)
    else:
        newer = add(api, "Likes coffee")
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=newer, reason="changed")
    add(api, "likes tea")
    with refused("memory_id", "23505"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B8", "F3")
@pytest.mark.parametrize("fate", ["deleted", "superseded", "evicted"])
@pytest.mark.parametrize("eviction", ["importance", "fifo"])
def test_what_is_restored_at_the_limit_stays_and_another_memory_goes(api: Api, fate: str, eviction: str) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 2, "eviction": eviction}})
    memory_id = add(api, "oldest")
    if fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=memory_id)
    elif fate == "superseded":
        by = {"new_memory_id": add(api, "newer"), "reason": "newer"}
        api.supersede_memory(user_id="ana", old_memory_id=memory_id, **by)
    add(api, "second")
    add(api, "third")
    assert contents(api) == ["third", "second"]
    api.restore_memory(user_id="ana", memory_id=memory_id)
    assert contents(api) == ["third", "oldest"]


# What was hidden ------------------------------------------------------------------------------------------------------


def supersede(api: Api, *chain: UUID) -> None:
    """Each gives way to the next."""
    for old, new in itertools.pairwise(chain):
        by = {"old_memory_id": old, "new_memory_id": new, "reason": "newer"}
        api.supersede_memory(user_id="ana", **by)


@pytest.mark.feature("E11", "F3")
@pytest.mark.parametrize("goes_by", ["deletion", "sweep", "expiry", "direct deletion", "direct update"])
def test_what_a_memory_hid_comes_back_when_it_goes(api: Api, goes_by: str) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    if goes_by in ("deletion", "sweep"):
        api.delete_memory(user_id="ana", memory_id=new)
    elif goes_by == "expiry":
        expire(api, new)
    elif goes_by == "direct deletion":
        api.connection.execute("delete from memory.memories where memory_id = %s", (new,))
    else:
        api.connection.execute("update memory.memories set deleted_at = now() where memory_id = %s", (new,))
    if goes_by in ("sweep", "expiry"):
        api.sweep()
    assert contents(api) == ["Lives in Oslo"]
    memory = api.get_memory(user_id="ana", memory_id=old)
    assert (memory.superseded_by, memory.supersede_reason, memory.superseded_at) == (None, None, None)
    history = api.get_memory_history(user_id="ana", memory_id=old)
    assert [version.operation for version in history] == ["insert", "supersede", "restore"]
    assert api.query("select * from memory.memories where superseded_by is not null") == []


@pytest.mark.feature("E11", "F3")
def test_a_deletion_that_is_undone_hides_again_what_it_brought_back(api: Api) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    api.delete_memory(user_id="ana", memory_id=new)
    api.restore_memory(user_id="ana", memory_id=new)
    assert contents(api) == ["Lives in Rome"]
    assert api.get_memory(user_id="ana", memory_id=old).supersede_reason == "newer"


@pytest.mark.feature("F3")
@pytest.mark.parametrize("when", ["before", "after"])
def test_a_deletion_that_is_undone_leaves_alone_what_the_user_has_touched(api: Api, when: str) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    if when == "before":
        api.restore_memory(user_id="ana", memory_id=old)
    api.delete_memory(user_id="ana", memory_id=new)
    if when == "after":
        api.update_memory(user_id="ana", memory_id=old, importance=1)
    api.restore_memory(user_id="ana", memory_id=new)
    assert sorted(contents(api)) == ["Lives in Oslo", "Lives in Rome"]


@pytest.mark.feature("E11")
@pytest.mark.parametrize("gone", [(1,), (1, 2), (2, 1), (2,)])
def test_in_a_chain_the_next_that_is_left_goes_on_hiding(api: Api, gone: tuple[int, ...]) -> None:
    chain = [add(api, f"Lives in no. {number}") for number in range(4)]
    supersede(api, *chain)
    for number in gone:
        api.delete_memory(user_id="ana", memory_id=chain[number])
    assert contents(api) == ["Lives in no. 3"]
    api.delete_memory(user_id="ana", memory_id=chain[3])
    left = [number for number in (2, 1, 0) if number not in gone]
    assert contents(api) == [f"Lives in no. {left[0]}"]


@pytest.mark.feature("E11")
def test_members_of_a_chain_that_go_in_one_statement_pass_on_what_they_hid(api: Api) -> None:
    chain = [add(api, f"Lives in no. {number}") for number in range(4)]
    supersede(api, *chain)
    api.connection.execute("delete from memory.memories where memory_id = any (%s)", (chain[1:3],))
    assert contents(api) == ["Lives in no. 3"]
    assert api.get_memory(user_id="ana", memory_id=chain[0]).superseded_by == chain[3]


@pytest.mark.feature("E11", "E12")
def test_what_was_stored_again_meanwhile_does_not_come_back_twice(api: Api) -> None:
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Rome")
    supersede(api, old, new)
    again = add(api, "lives in Oslo")
    api.delete_memory(user_id="ana", memory_id=new)
    assert contents(api) == ["lives in Oslo"]
    hidden = api.get_memory(user_id="ana", memory_id=old)
    assert (hidden.superseded_by, hidden.supersede_reason) == (again, "duplicate")


@pytest.mark.feature("E11")
def test_what_comes_back_belongs_to_its_own_agent(api: Api) -> None:
    old, new = add(api, "Lives in Oslo", agent_id="a"), add(api, "Lives in Rome", agent_id="b")
    supersede(api, old, new)
    api.delete_memory(user_id="ana", memory_id=new)
    assert contents(api, agent_id="a") == ["Lives in Oslo"]
    assert api.query("select agent_id, memory_count from memory.memory_scopes order by 1") == [("a", 1), ("b", 0)]


# Time -----------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F1", "B10")
@pytest.mark.parametrize(
    "times",
    [
        {"valid_from": "2014-06-01"},
        {"valid_from": "1935-01-01"},
        {"valid_from": "0001-06-01"},
        {"valid_from": "infinity"},
        {"valid_from": "-infinity"},
        {"valid_to": "infinity"},
        {"valid_from": "-infinity", "valid_to": "infinity"},
        {"expires_at": "infinity"},
    ],
    ids=str,
)
def test_a_memory_of_any_age_is_read(api: Api, times: dict[str, str]) -> None:
    memory_id = add(api, "Lived in Oslo", **times)
    assert "Lived in Oslo" in api.render_memories(user_id="ana", query="oslo")
    assert "Lived in Oslo" in api.render_memories(user_id="ana")
    [part] = api.get_context(user_id="ana", thread_id="t1", query="oslo")
    assert "Lived in Oslo" in part.content
    [hit] = api.search(user_id="ana", query="oslo", mode="keyword")
    assert hit.content == "Lived in Oslo"
    never = [name for name, value in times.items() if value.endswith("infinity")]
    [row] = api.list_memories(user_id="ana")
    for memory in (row, api.get_memory(user_id="ana", memory_id=memory_id)):
        assert all(getattr(memory, name) is None for name in never)


@pytest.mark.feature("F1")
@pytest.mark.parametrize("moment", ["0044-03-15 BC", "20000-01-01"])
def test_a_time_that_clients_cannot_read_is_refused(api: Api, moment: str) -> None:
    for argument in ("valid_from", "valid_to", "expires_at"):
        with refused(argument):
            add(api, "Lived in Oslo", **{argument: moment})
    with refused("expires_at"):
        api.add_message(user_id="ana", thread_id="t1", role="user", content="x", expires_at=moment)
    with refused("expires_at"):
        api.store_artifact(user_id="ana", content="x", expires_at=moment)


@pytest.mark.feature("F1", "B10")
def test_what_was_stored_as_infinite_before_is_read_as_never(api: Api) -> None:
    """Rows of before there were such rules."""
    memory_id = add(api, "Lives in Oslo")
    api.connection.execute("alter table memory.memories disable trigger user")
    api.connection.execute("""
        update memory.memories set valid_from = '-infinity', valid_to = 'infinity', expires_at = '20000-01-01'
    """)
    memory = api.get_memory(user_id="ana", memory_id=memory_id)
    assert (memory.valid_from, memory.valid_to, memory.expires_at) == (None, None, None)
    assert api.list_memories(user_id="ana") == [memory]
    assert "Lives in Oslo" in api.render_memories(user_id="ana", query="oslo")


@pytest.mark.feature("A2", "F1")
def test_never_as_an_argument_overrules_the_expiry_of_the_policy(api: Api) -> None:
    api.set_policy(settings={"memories": {"expires_after": "1 day"}})
    memory_id = add(api, "Lives in Oslo", expires_at="infinity")
    assert api.value("select expires_at is null from memory.memories")
    assert api.get_memory(user_id="ana", memory_id=memory_id).expires_at is None


SMALL = 1e-50
"""Less than a real can hold."""


@pytest.mark.feature("B12")
def test_the_smallest_numbers_break_no_read(api: Api) -> None:
    context = {"relevance_weight": SMALL, "importance_weight": SMALL, "recency_weight": SMALL, "memories_share": SMALL}
    add(api, "Lives in Oslo", confidence=SMALL, importance=SMALL)
    api.search(user_id="ana", query="oslo", min_score=SMALL, min_confidence=0)
    for key, value in context.items():
        api.set_policy(settings={"context": {key: value}})
        assert "Lives in Oslo" in api.render_memories(user_id="ana", query="oslo")
        api.get_context(user_id="ana", thread_id="t1", query="oslo")
    api.connection.execute("""
        select memory.set_policy('{"context": {"recency_weight": 1e-400},
          "knowledge_base": {"relevance_threshold": 1e-400, "enable_cross_session_context": true}}')
    """)
    api.get_context(user_id="ana", thread_id="t1", query="what did we discuss about oslo last time")
    assert api.search(user_id="ana", query="oslo", min_confidence=SMALL) != []


@pytest.mark.parametrize(
    ("as_of", "expected"),
    [
        ("2019-06-01", []),
        ("2020-01-01", ["Lives in Oslo"]),
        ("2021-12-31", ["Lives in Oslo"]),
        ("2022-01-01", ["Lives in Bergen"]),
        ("2023-06-01", ["Works at Acme", "Lives in Bergen"]),
    ],
)
def test_as_of_answers_with_what_was_true_then(api: Api, as_of: str, expected: list[str]) -> None:
    add(api, "Lives in Oslo", valid_from="2020-01-01Z", valid_to="2022-01-01Z")
    add(api, "Lives in Bergen", valid_from="2022-01-01Z")
    add(api, "Works at Acme", valid_from="2023-01-01Z", valid_to="2024-01-01Z")
    assert contents(api, as_of=f"{as_of}Z") == expected
    hits = api.search(user_id="ana", query="Lives Works", mode="keyword", as_of=f"{as_of}Z")
    assert {hit.content for hit in hits} == set(expected)


def test_as_of_shows_what_was_superseded_later(api: Api) -> None:
    before = api.value("select clock_timestamp()")
    old, new = add(api, "Lives in Oslo"), add(api, "Lives in Bergen")
    between = api.value("select clock_timestamp()")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="moved")
    assert contents(api, as_of=before) == []
    assert contents(api, as_of=between) == ["Lives in Bergen", "Lives in Oslo"]
    assert contents(api, as_of=api.value("select clock_timestamp()")) == ["Lives in Bergen"]


# Expiry and clean-up --------------------------------------------------------------------------------------------------

READERS: dict[str, Callable[[Api, UUID], Any]] = {
    "list_memories": lambda api, _: api.list_memories(user_id="ana", include_superseded=True),
    "search": lambda api, _: api.search(user_id="ana", query="tea", mode="keyword", include_superseded=True),
    "render_memories": lambda api, _: api.render_memories(user_id="ana"),
    "get_context": lambda api, _: api.get_context(user_id="ana", thread_id="t1"),
    "as_of": lambda api, _: api.list_memories(user_id="ana", as_of=datetime.now(timezone.utc)),
    "delete_memory": lambda api, memory_id: api.delete_memory(user_id="ana", memory_id=memory_id),
}


@pytest.mark.feature("B7")
@pytest.mark.parametrize("reader", READERS)
def test_an_expired_memory_is_never_returned(api: Api, reader: str) -> None:
    memory_id = add(api, "Likes tea")
    if reader != "delete_memory":
        assert READERS[reader](api, memory_id)
    expire(api, memory_id)
    assert not READERS[reader](api, memory_id)


@pytest.mark.feature("B7")
@pytest.mark.parametrize("function", ["get_memory", "update_memory", "restore_memory"])
def test_an_expired_memory_is_unknown(api: Api, function: str) -> None:
    memory_id = add(api, "Likes tea")
    expire(api, memory_id)
    with refused("memory_id", "P0002"):
        getattr(api, function)(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B6", "A2", "A16")
def test_sweep_removes_what_is_over_and_counts_it_by_kind(api: Api) -> None:
    for number in range(3):
        expire(api, add(api, f"expired {number}"))
    api.delete_memory(user_id="ana", memory_id=add(api, "deleted"))
    api.supersede_memory(user_id="ana", old_memory_id=add(api, "old"), new_memory_id=add(api, "new"), reason="newer")
    api.talk("ana", "cleared", 3)
    api.clear_thread(user_id="ana", thread_id="cleared")
    api.add_message(
        user_id="ana", thread_id="t1", role="user", content="over", expires_at=datetime(2020, 1, 1, tzinfo=timezone.utc)
    )
    api.store_artifact(user_id="ana", content="over", expires_at="2020-01-01")
    api.store_artifact(user_id="ana", content="kept", expires_at="2999-01-01")
    api.talk("ana", "t1", 2)
    api.summarize_thread(user_id="ana", thread_id="t1")
    assert api.finish_jobs() == 1
    api.connection.execute("update memory.jobs set finished_at = now() - interval '8 days'")
    api.connection.execute("update memory.model_calls set called_at = now() - interval '401 days'")
    counts = {"messages": 7, "memories": 4, "artifacts": 1, "jobs": 1, "model_calls": 1, "queued": 0, "checked": 11}
    assert api.sweep() == counts
    assert api.sweep() == dict.fromkeys(counts, 0)
    assert contents(api, include_superseded=True) == ["new", "old"]
    assert len(api.get_messages(user_id="ana", thread_id="t1")) == 4


@pytest.mark.feature("B6")
def test_sweep_takes_at_most_a_batch_of_each_kind(api: Api) -> None:
    api.connection.execute(
        "insert into memory.memories (user_id, agent_id, content, expires_at) "
        "select 'ana', 'agent ' || n % 3, n::text, now() - interval '1 day' from generate_series(1, 25) n"
    )
    assert [api.sweep(batch_size=10)["memories"] for _ in range(4)] == [10, 10, 5, 0]


# The limit ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B8")
def test_the_oldest_memory_goes_when_one_is_added_over_the_limit(api: Api) -> None:
    limit(api, 3)
    for number in range(5):
        add(api, f"no. {number}")
    assert contents(api) == ["no. 4", "no. 3", "no. 2"]


@pytest.mark.feature("B8", "B7")
def test_an_expired_memory_goes_before_an_older_one_that_still_holds(api: Api) -> None:
    limit(api, 2)
    add(api, "oldest")
    expire(api, add(api, "expired"))
    add(api, "newest")
    assert contents(api) == ["newest", "oldest"]


@pytest.mark.feature("B8")
def test_the_limit_is_1000_unless_configured_and_bulk_inserts_keep_it(api: Api) -> None:
    api.connection.execute(
        "insert into memory.memories (user_id, content) select 'ana', 'no. ' || n from generate_series(1, 1005) n"
    )
    current = """
        select count(*), min(substr(content, 5)::int) filter (where content like 'no.%%')
        from memory.memories where deleted_at is null
    """
    assert api.query(current) == [(1000, 6)]
    assert add(api, "one more") is not None
    assert api.query(current) == [(1000, 7)]


@pytest.mark.feature("B8", "B12")
def test_what_matters_least_goes_first(api: Api) -> None:
    """Extracted before stated, then the less important, then the older."""
    order = [
        ("extracted of little weight", "extraction", 0.1),
        ("extracted and older", "extraction", 0.9),
        ("extracted and newer", "reconciliation", 0.9),
        ("stated of little weight", "user", 0.1),
        ("stated and older", "crm", 0.5),
        ("stated and newer", "user", 0.5),
    ]
    for position in (5, 1, 3, 4, 2, 0):
        content, source, importance = order[position]
        add(api, content, source=source, importance=importance)
    for place in ("older", "newer"):  # what is stored first is older
        api.connection.execute(
            "update memory.memories set created_at = created_at + %s where content like %s",
            (timedelta(minutes=place == "newer"), f"%{place}"),
        )
    limit(api, len(order))
    for gone in range(1, len(order) + 1):
        add(api, f"new {gone}", importance=1)
        left = [row[0] for row in order[gone:]]
        assert sorted(contents(api)) == sorted([*left, *(f"new {number}" for number in range(1, gone + 1))])


@pytest.mark.feature("B8")
def test_by_policy_the_oldest_goes_whatever_it_is(api: Api) -> None:
    api.set_policy(settings={"memories": {"max_per_agent": 2, "eviction": "fifo"}})
    add(api, "stated, of weight", importance=1)
    add(api, "extracted", source="extraction", importance=0)
    add(api, "newest", importance=0)
    assert contents(api) == ["newest", "extracted"]


@pytest.mark.feature("B8")
def test_a_flood_of_what_a_model_extracted_leaves_what_the_user_stated(api: Api) -> None:
    limit(api, 20)
    for number in range(18):
        add(api, f"stated {number}", importance=1)
    for number in range(200):
        add(api, f"spam {number}", source="extraction", importance=1)
    stored = contents(api)
    assert sorted(stored) == sorted([*(f"stated {number}" for number in range(18)), "spam 198", "spam 199"])


@pytest.mark.feature("B8", "F3")
def test_what_goes_at_the_limit_stays_in_the_history_for_a_week(api: Api) -> None:
    limit(api, 1)
    memory_id = add(api, "first")
    add(api, "second")
    [stored, evicted] = api.get_memory_history(user_id="ana", memory_id=memory_id)
    assert (stored.operation, evicted.operation, evicted.content) == ("insert", "evict", "first")
    assert api.sweep()["memories"] == 0
    a_week_passes(api)
    assert api.sweep()["memories"] == 1
    with refused("memory_id", "P0002"):
        api.restore_memory(user_id="ana", memory_id=memory_id)


@pytest.mark.feature("B8")
def test_a_new_memory_that_matters_least_is_put_away_and_says_so(api: Api) -> None:
    limit(api, 1)
    add(api, "of weight", importance=0.9)
    stored = api.add_memory(user_id="ana", content="of no weight", importance=0.1)
    assert not stored.inserted
    assert any(str(stored.memory_id) in notice for notice in api.notices)
    assert contents(api) == ["of weight"]
    api.restore_memory(user_id="ana", memory_id=stored.memory_id)
    assert contents(api) == ["of no weight"]


def a_week_passes(api: Api) -> None:
    """For what the limit took."""
    with api.connection.transaction():
        api.connection.execute("set local session_replication_role = replica")
        api.connection.execute("update memory.memories set deleted_at = deleted_at - interval '8 days'")


@pytest.mark.feature("B8", "E11")
@pytest.mark.parametrize(
    "hidden",
    [{"source": "user"}, {"source": "extraction", "importance": 0.9}, {"source": "extraction", "agent_id": "other"}],
    ids=str,
)
def test_what_matters_more_than_what_hid_it_comes_back_at_the_limit(api: Api, hidden: dict[str, Any]) -> None:
    limit(api, 2)
    old = add(api, "Allergic to penicillin", **{"importance": 0.1, **hidden})
    new = add(api, "Not allergic to anything", source="extraction", importance=0.1)
    supersede(api, old, new)
    add(api, "of weight", source="extraction")
    add(api, "of weight too", source="extraction")
    assert "Allergic to penicillin" in contents(api)
    assert "Not allergic to anything" not in contents(api)


@pytest.mark.feature("B8", "E11")
def test_what_goes_at_the_limit_takes_along_what_it_hid(api: Api) -> None:
    """What is older and superseded does not take its place."""
    limit(api, 2)
    old, new = add(api, "old", importance=0.1), add(api, "new", importance=0.1)
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    add(api, "of weight", importance=0.9)
    add(api, "of weight too", importance=0.9)
    assert sorted(contents(api)) == ["of weight", "of weight too"]
    a_week_passes(api)
    assert api.sweep()["memories"] == 2
    assert sorted(contents(api, include_superseded=True)) == ["of weight", "of weight too"]


@pytest.mark.feature("B8")
def test_each_agent_of_each_user_has_a_limit_of_its_own(api: Api) -> None:
    limit(api, 4)
    limit(api, 3, agent_id="b")
    limit(api, 2, user_id="bob")
    limit(api, 1, agent_id="b", user_id="bob")
    scopes = [(user_id, agent_id) for user_id in ("ana", "bob") for agent_id in ("a", "b")]
    for number in range(6):
        for user_id, agent_id in scopes:
            add(api, f"no. {number}", user_id=user_id, agent_id=agent_id)
    kept = {scope: contents(api, user_id=scope[0], agent_id=scope[1]) for scope in scopes}
    expected = dict(zip(scopes, (4, 3, 2, 1), strict=True))
    assert kept == {scope: [f"no. {n}" for n in range(5, 5 - count, -1)] for scope, count in expected.items()}


@pytest.mark.feature("B8")
def test_what_was_deleted_or_superseded_takes_no_place(api: Api) -> None:
    limit(api, 2)
    api.delete_memory(user_id="ana", memory_id=add(api, "deleted"))
    old, new = add(api, "old"), add(api, "new")
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    add(api, "last")
    assert contents(api, include_superseded=True) == ["last", "new", "old"]


@pytest.mark.feature("B8")
def test_a_lower_limit_holds_from_the_next_memory_on(api: Api) -> None:
    for number in range(5):
        add(api, f"no. {number}")
    limit(api, 2)
    add(api, "no. 5")
    assert contents(api) == ["no. 5", "no. 4"]


# Counters -------------------------------------------------------------------------------------------------------------

DELETE = "select memory.delete_memory(user_id => 'ana', memory_id => %(first)s);"
EXPIRE = "select memory.update_memory(user_id => 'ana', memory_id => %(first)s, expires_at => '2020-01-01');"
RESTORE = "select memory.restore_memory(user_id => 'ana', memory_id => %(first)s);"
SUPERSEDE = (
    "select memory.supersede_memory('ana', old_memory_id => %(first)s, new_memory_id => %(second)s, reason => 'x');"
)
LIMIT = """select memory.set_policy('{"memories": {"max_per_agent": 3}}');"""
INSERT = "insert into memory.memories (user_id, agent_id, content)"
CHANGES = {
    "nothing": "",
    "add": "select memory.add_memory('ana', 'one more')",
    "add a repetition": "select memory.add_memory('ana', 'no. 0')",
    "add for another agent": "select memory.add_memory('ana', 'no. 0', agent_id => 'other')",
    "add over the limit": LIMIT + "select memory.add_memory('ana', 'over')",
    "replace": "select memory.add_memory('ana', 'NO. 0', on_conflict => 'replace')",
    "expire": EXPIRE,
    "add again after expiry": EXPIRE + "select memory.add_memory('ana', 'no. 0')",
    "update": "select memory.update_memory('ana', %(first)s, content => 'changed')",
    "delete": DELETE,
    "delete twice": DELETE + DELETE,
    "supersede": SUPERSEDE,
    "delete a superseded one": SUPERSEDE + DELETE,
    "restore a deleted one": DELETE + RESTORE,
    "restore a superseded one": SUPERSEDE + RESTORE,
    "restore one that was there": RESTORE,
    "sweep": DELETE + "update memory.memories set expires_at = '2020-01-01'; select memory.sweep()",
    "roll back": "begin;" + DELETE + INSERT + "values ('ana', 'default', 'x'); rollback",
    "bulk insert": INSERT + "select 'ana', 'agent ' || n %% 3, n::text from generate_series(1, 50) as n",
    "bulk insert over the limit": LIMIT + INSERT + "select 'ana', 'default', n::text from generate_series(1, 50) as n",
    "bulk insert with repetitions": INSERT
    + "select 'ana', 'default', 'no. ' || n %% 9 from generate_series(1, 50) as n on conflict do nothing",
    "plain delete": "delete from memory.memories where content in ('no. 1', 'no. 3')",
    "plain soft delete": "update memory.memories set deleted_at = now()",
    "plain insert of a deleted one": "insert into memory.memories (user_id, content, deleted_at) "
    "values ('ana', 'x', now())",
}


@pytest.mark.feature("E14")
@pytest.mark.parametrize("change", CHANGES)
def test_the_counter_equals_the_rows_after(api: Api, change: str) -> None:
    ids = [add(api, f"no. {number}") for number in range(5)]
    psycopg.ClientCursor(api.connection).execute(CHANGES[change], {"first": ids[0], "second": ids[1]})
    scopes = api.query(COUNTERS)
    assert scopes
    assert all(scope.memory_count == scope.stored for scope in scopes), scopes


def test_deleting_a_thread_takes_what_was_extracted_from_it_out_of_the_counter(api: Api) -> None:
    api.talk("ana", "t1", 5)
    assert api.finish_jobs(memory="Likes tea") == 2
    add(api, "Stated by the user", thread_id="t1")
    api.delete_thread(user_id="ana", thread_id="t1")
    assert contents(api) == ["Stated by the user"]
    assert api.query(COUNTERS) == [("ana", "default", 1, 1)]
