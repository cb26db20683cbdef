"""The parts of the quality benchmark that decide what a context is said to hold, and what it costs."""

from __future__ import annotations

from bench.quality import context, evidence
from bench.quality.context import Filling, Reader
from bench.quality.evidence import Question
from bench.quality.stored import Stored

QUESTION = Question("ann", evidence.halves(0), "What about the cat?", frozenset({"D1:1", "D1:2"}))


def words(text: str) -> int:
    return len(text.split())


def reader() -> Reader:
    texts = {("ann", "D1:1"): "The cat  sleeps\nall day.", ("ann", "D1:2"): "The cat eats fish."}
    return Reader(Stored({}, {}, texts), words)


class TestReader:
    def test_a_turn_is_held_where_its_words_stand_however_they_are_wrapped(self) -> None:
        filling = reader().fill(
            QUESTION, [("recalled", "Ann: Well. The cat sleeps all\n  day. Bye."), ("message", "The cat eats meat.")]
        )
        assert (filling.evidence, filling.held, filling.is_whole) == (2, 1, False)
        assert filling.recalled == 8

    def test_a_turn_does_not_reach_over_two_parts(self) -> None:
        filling = reader().fill(QUESTION, [("recalled", "The cat eats"), ("message", "fish.")])
        assert filling.held == 0


class TestFigures:
    def test_means(self) -> None:
        fillings = {
            1000: [
                Filling(evidence.halves(0), 2, 2),
                Filling(evidence.halves(7), 2, 1),
            ]
        }
        figures = context.summarize(fillings)
        assert {group: each["1000"]["questions"] for group, each in figures.items()} == {
            "tuning": 1,
            "reported": 1,
            "all": 2,
        }
        assert figures["all"]["1000"]["whole"] == 0.5
