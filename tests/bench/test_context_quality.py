"""The parts of the quality benchmark that decide what a context is said to hold, and what it costs."""

from __future__ import annotations

from bench.quality import context, evidence, stored
from bench.quality.context import Filling, Reader
from bench.quality.evidence import Question
from bench.quality.stored import Stored

QUESTION = Question("ann", evidence.halves(0), "What about the cat?", frozenset({"D1:1", "D1:2"}))


def words(text: str) -> int:
    return len(text.split())


def reader(memories: dict[stored.Turn, list[str]] | None = None) -> Reader:
    texts = {("ann", "D1:1"): "The cat  sleeps\nall day.", ("ann", "D1:2"): "The cat eats fish."}
    return Reader(Stored({}, {}, texts), words, memories)


class TestReader:
    def test_a_turn_is_held_where_its_words_stand_however_they_are_wrapped(self) -> None:
        filling = reader().fill(
            QUESTION, [("recalled", "Ann: Well. The cat sleeps all\n  day. Bye."), ("message", "The cat eats meat.")]
        )
        assert (filling.evidence, filling.held, filling.is_whole) == (2, 1, False)
        assert filling.tokens == {"recalled": 8, "message": 4}

    def test_a_turn_does_not_reach_over_two_parts(self) -> None:
        filling = reader().fill(QUESTION, [("recalled", "The cat eats"), ("message", "fish.")])
        assert filling.held == 0

    def test_evidence_counts_as_recalled_in_recalled_parts_only(self) -> None:
        filling = reader().fill(QUESTION, [("recalled", "The cat eats fish."), ("memories", "The cat sleeps all day.")])
        assert (filling.held, filling.evidence_tokens) == (2, 4)

    def test_remembered_by_a_memory_made_of_the_turn(self) -> None:
        made = {("ann", "D1:1"): ["Ann's cat is lazy."]}
        filling = reader(made).fill(
            QUESTION, [("memories", "1. Ann's cat is lazy."), ("recalled", "The cat eats fish.")]
        )
        assert (filling.held, filling.remembered, filling.is_whole) == (1, 2, False)


class TestFigures:
    def test_means(self) -> None:
        fillings = {
            1000: [
                Filling(evidence.halves(0), 2, 2, 2, {"recalled": 600, "message": 500}),
                Filling(evidence.halves(7), 2, 1, 2, {"recalled": 300}),
            ]
        }
        figures = context.summarize(fillings)
        assert {group: each["1000"]["questions"] for group, each in figures.items()} == {
            "tuning": 1,
            "reported": 1,
            "all": 2,
        }
        together = figures["all"]["1000"]
        assert (together["whole"], together["whole_or_remembered"], together["evidence"]) == (0.5, 1, 0.75)
        assert together["tokens"] == {"mean": 700, "max": 1100}
        assert together["over_budget"] == 1
        assert together["tokens_by_source"] == {"message": 250, "recalled": 450}

    def test_noise(self) -> None:
        fillings = [
            Filling(evidence.halves(0), 1, 1, 1, {"recalled": 100, "memories": 50}, 25),
            Filling(evidence.halves(0), 0, 0, 0, {}),
        ]
        assert context.summarize_noise({1000: fillings})["1000"] == {
            "questions": 2,
            "without_any": 1,
            "recalled_tokens": {"mean": 50, "max": 100},
            "evidence_tokens": 12.5,
            "noise": 0.75,
        }
