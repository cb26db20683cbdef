"""Memories with the same words are stored once."""

from __future__ import annotations

import hashlib
import re
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from uuid import uuid4

import psycopg
import pytest
from psycopg import errors

from tests.memories.steps import add, expire, supersede
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api


@pytest.mark.feature("E12")
def test_the_hash_is_that_of_the_lower_case_single_spaced_content(api: Api) -> None:
    for content in CONTENTS:
        memory_id = add(api, content)
        normalised = " ".join(re.sub("[\u200b\u2060\ufeff]", "", content).lower().split())
        expected = hashlib.sha256(normalised.encode()).hexdigest()[:32]
        stored = "select content_hash from memory.memories where memory_id = %(id)s"
        assert api.value(stored, id=memory_id) == expected, ascii(content)


@pytest.mark.feature("E12")
def test_every_blank_of_unicode_counts_as_a_space_and_those_of_no_width_as_nothing(api: Api) -> None:
    first = add(api, "Likes tea")
    for blank in BLANKS:
        again = api.add_memory(user_id="ana", content=f"{blank}likes {blank}\ttea{blank}")
        assert (again.memory_id, again.inserted) == (first, False), ascii(blank)
    for unseen in ("\u200b", "\u2060", "\ufeff"):
        assert api.add_memory(user_id="ana", content=f"{unseen}Likes t{unseen}ea").memory_id == first
    assert api.add_memory(user_id="ana", content="Likestea").inserted


BLANKS = [chr(code) for code in (0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)]


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("\u0645\u06cc\u200c\u062e\u0648\u0627\u0647\u0645", "\u0645\u06cc\u062e\u0648\u0627\u0647\u0645"),
        ("\U0001f469\u200d\U0001f4bb", "\U0001f469\U0001f4bb"),
        ("caf\u00e9", "cafe"),
    ],
    ids=["Persian", "emoji", "accent"],
)
def test_characters_that_change_what_is_seen_count(api: Api, one: str, other: str) -> None:
    add(api, one)
    assert api.add_memory(user_id="ana", content=other).inserted


@pytest.mark.feature("E12")
def test_a_repetition_is_skipped_and_counted(api: Api) -> None:
    first = api.add_memory(user_id="ana", content="Likes tea", importance=0.9)
    before = api.get_memory(user_id="ana", memory_id=first.memory_id)
    again = api.add_memory(user_id="ana", content="  likes   TEA", importance=0.1)
    assert (again.memory_id, again.inserted) == (first.memory_id, False)
    assert api.get_memory(user_id="ana", memory_id=first.memory_id) == before
    assert api.query("select from memory.memory_history") == []
    assert api.query("select memory_count, duplicates_skipped from memory.memory_scopes") == [(1, 1)]


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("stored", "said", "stays", "on_conflict"),
    [
        ("preference", "fact", "preference", "ignore"),
        ("fact", "preference", "preference", "ignore"),
        ("fact", "preference", "preference", "replace"),
        ("context", "preference", "context", "replace"),
        ("fact", "episodic", "episodic", "ignore"),
        ("conversation_summary", "fact", "conversation_summary", "replace"),
    ],
)
def test_the_same_words_of_two_types_are_one_memory_of_the_more_specific_type(
    api: Api, stored: str, said: str, stays: str, on_conflict: str
) -> None:
    first = add(api, "Likes green tea", memory_type=stored)
    again = api.add_memory(user_id="ana", content="likes green  tea", memory_type=said, on_conflict=on_conflict)
    assert (again.memory_id, again.inserted) == (first, False)
    assert [row.memory_type for row in api.list_memories(user_id="ana")] == [stays]


@pytest.mark.feature("E12")
def test_on_conflict_error_refuses_the_same_words_of_any_type(api: Api) -> None:
    first = add(api, "Likes tea")
    for memory_type in ("fact", "preference"):
        with pytest.raises(errors.UniqueViolation, match=f"^content: .*{first}"):
            add(api, "Likes tea", memory_type=memory_type, on_conflict="error")
        with pytest.raises(errors.UniqueViolation) as refusal:
            api.connection.execute(
                "insert into memory.memories (user_id, content, memory_type) values ('ana', 'likes  tea', %s)",
                [memory_type],
            )
        assert refusal.value.diag.constraint_name == "memories_wording_idx"
    assert api.get_memory(user_id="ana", memory_id=first).memory_type == "fact"


@pytest.mark.feature("E12")
@pytest.mark.parametrize("source", ["extraction", "web"])
def test_a_model_or_a_web_page_does_not_change_the_type_of_what_was_stated(api: Api, source: str) -> None:
    first = add(api, "Likes tea")
    before = api.query("select * from memory.memories")
    again = api.add_memory(user_id="ana", content="Likes tea", memory_type="preference", source=source)
    assert (again.memory_id, again.inserted) == (first, False)
    after = api.query("select * from memory.memories")
    assert [row._replace(said_at=None) for row in after] == before


CONTENTS = [
    "Likes tea",
    "  LIKES\t\n Tea much ",
    "grüße aus köln",
    "x" * 10000,
    "Àpropos… Ågot",
    "\ufeff\u3000 Likes\u00a0\u2009 tea\u202f!\u0085",
    "\u00a0",
    "日\u200b本\u3000☕",
]


@pytest.mark.feature("E12")
def test_connections_that_say_the_same_as_two_types_store_one_memory(
    api: Api, connect: Callable[..., psycopg.Connection]
) -> None:
    statement = "select memory_id from memory.add_memory(user_id => 'ana', content => %s, memory_type => %s)"

    def store(memory_type: str) -> list[object]:
        with connect() as connection:
            return [connection.execute(statement, [f"Likes tea {n}", memory_type]).fetchone() for n in range(30)]

    with ThreadPoolExecutor() as threads:
        first, second = threads.map(store, ["fact", "preference"])
    assert first == second
    assert {row.memory_type for row in api.list_memories(user_id="ana")} == {"preference"}
    assert api.query("select memory_count from memory.memory_scopes") == [(30,)]


@pytest.mark.feature("E12")
def test_on_conflict_replace_updates_in_place(api: Api) -> None:
    first = add(api, "likes tea", importance=0.1, tags=["old"])
    again = api.add_memory(user_id="ana", content="Likes tea", importance=0.9, on_conflict="replace")
    read = api.get_memory(user_id="ana", memory_id=first)
    assert (again.memory_id, again.inserted) == (first, False)
    assert (read.content, read.tags, read.version) == ("Likes tea", [], 2)
    assert read.importance == pytest.approx(0.9)


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("fate", "on_conflict"), [("expired", "replace"), ("deleted", "error"), ("superseded", "ignore")]
)
def test_a_memory_that_is_gone_does_not_block_the_same_words(api: Api, fate: str, on_conflict: str) -> None:
    gone = add(api, "Likes tea")
    if fate == "expired":
        expire(api, gone)
    elif fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=gone)
    else:
        supersede(api, gone, add(api, "Likes coffee"))
    again = api.add_memory(user_id="ana", content="Likes tea", on_conflict=on_conflict)
    assert again.inserted
    assert again.memory_id != gone


@pytest.mark.feature("B1", "E2")
@pytest.mark.parametrize(
    ("fate", "on_conflict"),
    [
        ("kept", "error"),
        ("changed", "replace"),
        ("deleted", "replace"),
        ("superseded", "ignore"),
        ("expired", "error"),
    ],
)
def test_the_same_memory_id_stores_once(api: Api, fate: str, on_conflict: str) -> None:
    memory_id = uuid4()
    call = {"content": "Likes tea", "memory_id": memory_id, "on_conflict": on_conflict}
    assert api.add_memory(user_id="ana", **call) == (memory_id, True)
    if fate == "changed":
        api.update_memory(user_id="ana", memory_id=memory_id, content="Likes green tea")
    elif fate == "deleted":
        api.delete_memory(user_id="ana", memory_id=memory_id)
    elif fate == "superseded":
        supersede(api, memory_id, add(api, "Likes coffee"))
    elif fate == "expired":
        expire(api, memory_id)
    before = api.list_memories(user_id="ana", include_superseded=True)
    assert api.add_memory(user_id="ana", **call) == (memory_id, False)
    assert api.list_memories(user_id="ana", include_superseded=True) == before
    assert api.query("select count(*) from memory.memories where content ~ 'tea'") == [(1,)]
    assert api.add_memory(user_id="bob", **call).inserted


def test_connections_that_repeat_a_memory_id_at_once_store_once(connect: Callable[..., psycopg.Connection]) -> None:
    statement = "select inserted from memory.add_memory(user_id => 'ana', content => %s, memory_id => %s)"
    memory_id = uuid4()
    first, second = connect(), connect()
    with ThreadPoolExecutor() as threads:
        with first.transaction():
            assert first.execute(statement, ["Likes tea", memory_id]).fetchone() == (True,)
            # Another content, so that only the id tells that this is a repetition.
            waiting = threads.submit(second.execute, statement, ["Likes tea a lot", memory_id])
            time.sleep(0.2)
            assert not waiting.done()
        assert waiting.result(PATIENCE).fetchone() == (False,)
