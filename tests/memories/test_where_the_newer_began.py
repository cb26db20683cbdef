"""A superseded fact holds until the one that took its place began to hold."""

from __future__ import annotations

import pytest

from tests.support.sqlapi import Api

JANUARY, MARCH, MAY, JULY = (f"2026-{month:02}-10T00:00:00Z" for month in (1, 3, 5, 7))


@pytest.mark.feature("F1")
@pytest.mark.parametrize(
    ("as_of", "expected"), [(MARCH, "I live in Berlin"), (MAY, "I live in Munich now"), (JULY, "I live in Munich now")]
)
def test_what_was_imported_later_held_from_its_own_time(api: Api, as_of: str, expected: str) -> None:
    old = api.add_memory(user_id="ana", content="I live in Berlin", valid_from=JANUARY).memory_id
    new = api.add_memory(user_id="ana", content="I live in Munich now", valid_from=MAY).memory_id
    api.supersede_memory(user_id="ana", old_memory_id=str(old), new_memory_id=str(new), reason="moved")
    listed = [row.content for row in api.list_memories(user_id="ana", as_of=as_of)]
    found = [row.content for row in api.search(user_id="ana", query="I live", sources=["memory"], as_of=as_of)]
    assert listed == found == [expected]


@pytest.mark.feature("F1", "F3")
def test_restored_it_holds_on(api: Api) -> None:
    old = api.add_memory(user_id="ana", content="I live in Berlin", valid_from=JANUARY).memory_id
    new = api.add_memory(user_id="ana", content="I live in Munich now", valid_from=MAY).memory_id
    api.supersede_memory(user_id="ana", old_memory_id=str(old), new_memory_id=str(new), reason="moved")
    api.restore_memory(user_id="ana", memory_id=str(old))
    assert len(api.list_memories(user_id="ana", as_of=JULY)) == 2
