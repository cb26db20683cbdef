"""The parts of the quality benchmark that decide what a context is said to hold, and what it costs."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bench.quality import context, evidence, samples, stored
from bench.quality.context import Filling, Reader
from bench.quality.embedding_server import Embeddings, literal
from bench.quality.evidence import Question
from bench.quality.fillers import Fillers
from bench.quality.stored import Database, EmbeddingModel, Stored
from tests.support.fake_model_server import FakeModelServer
from tests.support.model_rules import embedding

DIMENSIONS = 64
SAMPLE: dict[str, Any] = {
    "sample_id": "ann",
    "conversation": {
        "speaker_a": "Ann",
        "speaker_b": "Bob",
        "session_1_date_time": "1:56 pm on 1 May, 2023",
        "session_1": [
            {"speaker": "Ann", "dia_id": "D1:1", "text": "The cat sleeps all day."},
            {"speaker": "Bob", "dia_id": "D1:2", "text": "The cat eats fish."},
        ],
        "session_2_date_time": "1:56 pm on 2 May, 2023",
        "session_2": [{"speaker": "Ann", "dia_id": "D2:1", "text": "It rains."}],
    },
    "qa": [],
}
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

    def test_whole_when_all_turns_are_held(self) -> None:
        filling = reader().fill(QUESTION, [("message", "The cat sleeps all day. The cat eats fish.")])
        assert filling.is_whole

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


@pytest.fixture
def told(db: psycopg.Connection, tmp_path: Path) -> Iterator[tuple[Database, Stored]]:
    """Three messages of a user in two threads, with embeddings made by rule."""
    path = tmp_path / "locomo.jsonl"
    samples.write([SAMPLE], path)
    database = Database(db.info.dsn, [db])
    with FakeModelServer(dimensions=DIMENSIONS) as server:
        yield (
            database,
            stored.load(database, path, EmbeddingModel(server.url, "embedder", DIMENSIONS), stored.said([SAMPLE])),
        )


class TestFillers:
    def test_the_newest_messages_up_to_the_first_that_does_not_fit(self, told: tuple[Database, Stored]) -> None:
        # "[2023-05-02] Ann: It rains." has four words, "[2023-05-01] Bob: The cat eats fish." has six.
        assert held(told, "last messages", "D2:1", [3, 4]) == [False, True]
        assert held(told, "last messages", "D1:2", [9, 10]) == [False, True]
        assert held(told, "last messages", "D1:1", [16, 17]) == [False, True]

    def test_the_nearest_messages_without_those_that_do_not_fit(self, told: tuple[Database, Stored]) -> None:
        # Nearest is the message of seven words; where it does not fit, shorter ones take its place.
        assert held(told, "vector top-k", "D1:1", [6, 7]) == [False, True]
        assert held(told, "vector top-k", "D1:2", [6, 7, 13]) == [True, False, True]


def held(told: tuple[Database, Stored], filler: str, turn: str, beyond_fence: list[int]) -> list[bool]:
    """Whether a filler holds the turn, for each number of words beyond those of the fence."""
    database, found = told
    (fence,) = database.connection.execute("select memory._fenced('')").fetchone() or ("",)
    budgets = [words(fence) + more for more in beyond_fence]
    text = "[2023-05-01] Ann: The cat sleeps all day."
    asked = [
        (Question("ann", evidence.halves(0), text, frozenset({turn})), literal(array("f", embedding(text, DIMENSIONS))))
    ]
    measured = Fillers(database.connection, found, words).measure(database, asked, budgets)
    return [measured[filler][budget][0].is_whole for budget in budgets]


def test_each_text_is_embedded_once() -> None:
    with FakeModelServer(dimensions=DIMENSIONS) as model:
        embeddings = Embeddings([model.url], "embedder")
        assert embeddings.of(["cat", "fish", "cat"]) == [
            array("f", embedding(text, DIMENSIONS)) for text in ("cat", "fish", "cat")
        ]
        assert embeddings.of(["fish"]) == [array("f", embedding("fish", DIMENSIONS))]
        assert [request.body["input"] for request in model.requests] == [["cat", "fish"]]
