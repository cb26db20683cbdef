"""Extracted memories that say nearly the same are folded into one."""

from __future__ import annotations

from typing import Any

import pytest

from tests.embeddings.steps import EAST, NEARLY_EAST, NORTH_EAST, Vector, embed, know
from tests.support.sqlapi import Api


def current(api: Api) -> list[str]:
    """Memories that readers see, oldest first."""
    return [row.content for row in reversed(api.list_memories(user_id="ana"))]


def folded(api: Api, *vectors: Vector, **arguments: Any) -> list[str]:
    """Which of the memories "b", "bc", "bcd" and so on are current when they have these vectors."""
    contents = ["bcdefghijk"[: number + 1] for number in range(len(vectors))]
    know(api, *contents, **arguments)
    embed(api, dict(zip(contents, vectors, strict=True)))
    return current(api)


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("cosine", "vector", "left"),
    [
        (None, NEARLY_EAST, ["bc"]),
        (None, NORTH_EAST, ["b", "bc"]),
        (0.7, NORTH_EAST, ["bc"]),
        (1, EAST, ["bc"]),
        (0, [-1.0, 0.0, 0.0], ["b", "bc"]),
    ],
)
def test_extracted_memories_that_say_nearly_the_same_become_one(
    active: Api, cosine: float | None, vector: Vector, left: list[str]
) -> None:
    if cosine is not None:
        active.set_policy(settings={"memories": {"near_duplicate_cosine": cosine}})
    assert folded(active, EAST, vector) == left


@pytest.mark.feature("E12", "E11")
@pytest.mark.parametrize(
    ("first", "second", "stays", "together"),
    [
        ("Likes tea", "Likes green tea", "Likes green tea", True),
        ("Likes green tea", "Likes tea", "Likes green tea", False),
        ("a", "b", "a", True),
    ],
)
def test_the_longer_text_stays_else_the_older_and_the_other_can_be_restored(
    active: Api, first: str, second: str, stays: str, together: bool
) -> None:
    know(active, first)
    if not together:
        embed(active)
    know(active, second)
    assert embed(active)[-1]["folded"] == 1
    assert current(active) == [stays]
    [gone] = [row for row in active.list_memories(user_id="ana", include_superseded=True) if row.superseded_at]
    assert gone.supersede_reason == "near-duplicate"
    assert active.get_memory(user_id="ana", memory_id=gone.superseded_by).content == stays
    active.restore_memory(user_id="ana", memory_id=gone.memory_id)
    embed(active)
    assert len(current(active)) == 2
    assert active.value("select memory_count from memory.memory_scopes") == 2


@pytest.mark.feature("E12")
@pytest.mark.parametrize(
    ("first", "second", "is_folded"),
    [
        ("Born in 1985", "Born in 1986", False),
        ("Allergic to nuts", "Not allergic to nuts", False),
        ("Ist gegen Nüsse allergisch", "Ist nicht gegen Nüsse allergisch", False),
        ("Meets Anna on Monday", "Meets Anna on Tuesday", False),
        ("Flew from Rome to Oslo", "Flew from Oslo to Rome", False),
        ("Born in 1985", "Born in Lisbon in 1985", True),
        ("Drinks tea", "Tea is a favourite drink", True),
    ],
)
def test_memories_that_differ_in_a_number_a_name_or_a_negation_are_not_folded(
    active: Api, first: str, second: str, is_folded: bool
) -> None:
    """To all-MiniLM-L6-v2 "on Monday" is as near to "on Tuesday" as 0.98."""
    know(active, first, second)
    assert embed(active)[-1]["folded"] == is_folded


@pytest.mark.feature("E12")
def test_a_memory_that_somebody_reworded_is_never_folded(active: Api) -> None:
    ids = know(active, "Likes tea", "Likes green tea")
    active.update_memory(user_id="ana", memory_id=ids[1], content="Likes tea, black")
    embed(active)
    assert "Likes tea, black" in current(active)


@pytest.mark.feature("E12", "A3")
@pytest.mark.parametrize(
    "other",
    [
        {"agent_id": "sales"},
        {"metadata": {"subject": "Anna"}},
        {"user_id": "bob"},
    ],
    ids=str,
)
def test_only_memories_of_one_agent_and_subject_fold(active: Api, other: dict[str, Any]) -> None:
    know(active, "Likes tea")
    know(active, "Likes green tea", **other)
    assert all(result["folded"] == 0 for result in embed(active))


@pytest.mark.feature("E12")
def test_the_summary_of_a_conversation_hides_no_memory(active: Api) -> None:
    """The next summary of the thread takes its place, and then nobody would say what the memory says."""
    know(active, "Likes green tea", source="thread_summary", memory_type="conversation_summary")
    know(active, "Likes tea")
    embed(active)
    assert current(active) == ["Likes green tea", "Likes tea"]


@pytest.mark.feature("E12")
def test_a_memory_that_was_not_extracted_is_never_folded(active: Api) -> None:
    know(active, "Likes tea", "Likes green tea", source="user")
    know(active, "Likes good green tea")
    embed(active)
    assert current(active) == ["Likes tea", "Likes green tea"]
