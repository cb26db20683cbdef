"""The conversations for real models, and how memories are compared with their labels."""

from __future__ import annotations

import re

import pytest

from tests.models_real.conversations import Conversation, conversations, fits, judged, shared_words

TALKS = conversations()


def test_there_are_six_threads_of_20_to_180_messages_with_70_facts() -> None:
    assert [len(talk.messages) for talk in TALKS] == [20, 26, 34, 44, 60, 180]
    assert sum(len(talk.facts) for talk in TALKS) == 70


@pytest.mark.parametrize("talk", TALKS, ids=lambda talk: talk.name)
def test_each_fact_is_said_in_its_thread(talk: Conversation) -> None:
    """Each label of a fact has a part that stands in what was said; the others are words of whoever states it."""
    said = " ".join(message["content"] for message in talk.messages)
    for label in talk.facts:
        assert any(re.search(part, said, re.IGNORECASE) for part in label.split(" & ")), label
    times = [message["created_at"] for message in talk.messages]
    assert times == sorted(times)


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
