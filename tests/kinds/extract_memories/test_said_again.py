"""Extraction: a statement that is said again, and statements that jobs store in another order than they were said."""

from __future__ import annotations

from typing import Any

import pytest

from tests.kinds.extract_memories.steps import found, known
from tests.kinds.facts import current, reconcile, superseded
from tests.support.protocol import activate, claim, complete, say
from tests.support.sqlapi import Api

OSLO, ROME = "Lives in Oslo", "Lives in Rome"


def heard(api: Api, content: str, day: str, thread_id: str = "t1", **fields: Any) -> dict[str, Any]:
    """An extraction that finds one fact in a message of this day of 2024."""
    [seq] = say(api, content, created_at=f"2024-{day}T10:00:00Z", thread_id=thread_id)
    api.extract_memories(user_id="ana", thread_id=thread_id)
    return complete(api, claim(api, "extract_memories"), memories=[found(content, **{"seqs": [seq], **fields})])


@pytest.fixture
def api(api: Api) -> Api:
    """With a chat model: what the database decides by itself."""
    activate(api)
    return api


@pytest.mark.feature("E10", "E12", "F1")
@pytest.mark.parametrize("days", [("01-01", "02-01"), ("02-01", "01-01")])
def test_a_memory_holds_since_it_was_first_said_and_names_all_messages(api: Api, days: tuple[str, str]) -> None:
    for day in days:
        heard(api, OSLO, day)
    [memory] = known(api)
    assert memory.valid_from.isoformat()[:10] == f"2024-{min(days)}"
    assert memory.source_seqs == [0, 1]
    said_at = api.value("select said_at from memory.memories")
    assert said_at.isoformat()[:10] == f"2024-{max(days)}"


@pytest.mark.feature("E12")
def test_a_stated_memory_stays_as_it_is_and_a_deleted_one_is_stored_again_when_it_is_said_again(api: Api) -> None:
    memory_id = api.add_memory(user_id="ana", content=OSLO).memory_id
    before = api.state()["memories"]
    assert heard(api, OSLO, "01-01")["duplicates"] == 1
    assert api.state()["memories"] == before
    api.delete_memory(user_id="ana", memory_id=memory_id)
    assert heard(api, OSLO, "02-01")["inserted"] == 1
    heard(api, OSLO, "03-01", event_time="2023-03-01")
    assert [memory.valid_from.isoformat()[:10] for memory in known(api)] == ["2023-03-01"]


@pytest.mark.feature("E12", "F2")
@pytest.mark.parametrize(("days", "thread_id"), [(("01-01", "02-01"), "t2"), (("02-01", "01-01"), "t1")])
def test_a_memory_of_two_threads_names_the_one_where_it_was_said_last(
    api: Api, days: tuple[str, str], thread_id: str
) -> None:
    for thread, day in zip(("t1", "t2"), days, strict=True):
        heard(api, OSLO, day, thread)
    assert [(memory.thread_id, memory.source_seqs) for memory in known(api)] == [(thread_id, [0])]


@pytest.mark.feature("E10", "E12")
@pytest.mark.parametrize(("day", "stays"), [("03-01", OSLO), ("01-15", ROME)])
def test_a_fact_that_lost_a_contradiction_wins_when_it_is_said_again_later(api: Api, day: str, stays: str) -> None:
    heard(api, OSLO, "01-01")
    heard(api, ROME, "02-01")
    reconcile(api, (), ((OSLO, ROME),))
    outcome = heard(api, OSLO, day, "t2")
    assert outcome["inserted"] == (stays == OSLO)
    assert current(api) == [stays]
    assert superseded(api) == {OSLO: ("replaced", ROME), **({ROME: ("replaced", OSLO)} if stays == OSLO else {})}
    assert api.value("select memory_count from memory.memory_scopes") == 1


@pytest.mark.feature("E10", "E12")
def test_a_hidden_duplicate_stays_hidden_when_it_is_said_again(api: Api) -> None:
    heard(api, "Likes tea", "01-01")
    heard(api, "Likes green tea", "02-01")
    reconcile(api, (("Likes tea", "Likes green tea"),))
    assert heard(api, "Likes tea", "03-01")["duplicates"] == 1
    assert current(api) == ["Likes green tea"]
