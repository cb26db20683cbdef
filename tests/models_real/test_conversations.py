"""The conversations for real models, and how memories are compared with their labels."""

from __future__ import annotations

import pytest

from tests.models_real.conversations import Conversation, fits, judged, shared_words


@pytest.mark.parametrize(
    ("label", "text", "expected"),
    [
        ("Leeds & moved|lives", "user: Moved to LEEDS", True),
        ("Leeds & moved|lives", "user: Likes Leeds", False),
        ("docker & uses & -podman", "user: Uses podman, not docker", False),
        ("docker & uses & -podman", "user: Uses docker", True),
        ("favou?rite", "user: favorite tea", True),
    ],
)
def test_a_label_fits_a_memory(label: str, text: str, expected: bool) -> None:
    assert fits(label, text) == expected


def test_memories_are_judged_by_the_labels() -> None:
    talk = Conversation("t", [], facts=["Leeds", "cat"], also=["Hull"], never=["allerg"])
    score = judged(talk, ["Lives in Leeds", "Came from Hull", "Is allergic to the cat", "Likes tea"])
    assert (score.found, score.facts, score.right, score.memories) == (2, 2, 2, 4)
    assert (score.false, score.unknown) == (["Is allergic to the cat"], ["Likes tea"])
    assert judged(talk, []).missing == talk.facts


def test_words_count_as_shared_whatever_their_endings() -> None:
    assert shared_words("Vegetarian since 2010", "I became vegetarians in 2010") == 2
    assert shared_words("The user's son is allergic to nuts", "We spent a week in Porto") == 0
