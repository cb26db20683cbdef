"""Updates of memories, their versions and their history."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.memories.steps import LATER, add
from tests.support.sqlapi import Api, refused


def test_an_update_changes_what_it_names_and_returns_the_new_version(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", metadata={"a": 1}, tags=["home"], confidence=0.5, expires_at=LATER)
    before = api.get_memory(user_id="ana", memory_id=memory_id)
    assert api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen") == 2
    after = api.get_memory(user_id="ana", memory_id=memory_id)
    assert after == before._replace(content="Lives in Bergen", version=2, updated_at=after.updated_at)
    assert after.updated_at > before.updated_at


def test_an_update_is_found_by_its_new_words_only_and_takes_an_expiry_away(api: Api) -> None:
    memory_id = add(api, "Lives in Oslo", expires_at=LATER)
    api.update_memory(user_id="ana", memory_id=memory_id, content="Lives in Bergen", expires_at="infinity")
    assert [hit.id for hit in api.search(user_id="ana", query="bergen", mode="keyword")] == [str(memory_id)]
    assert api.search(user_id="ana", query="oslo", mode="keyword") == []
    assert api.get_memory(user_id="ana", memory_id=memory_id).expires_at is None


def test_an_update_cannot_make_a_repetition(api: Api) -> None:
    add(api, "Lives in Oslo")
    memory_id = add(api, "Lives in Bergen")
    with refused("content", "23505"):
        api.update_memory(user_id="ana", memory_id=memory_id, content="lives in OSLO")


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


@pytest.mark.parametrize("column", ["user_id", "agent_id"])
def test_a_memory_cannot_be_moved_by_plain_sql(api: Api, column: str) -> None:
    add(api, "Lives in Oslo")
    with refused("memory_id"):
        api.query(f"update memory.memories set {column} = 'other' returning 1")
