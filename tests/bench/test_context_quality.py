"""The parts of the quality benchmark that decide what a context is said to hold, and what it costs."""

from __future__ import annotations

import json
from array import array
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from bench.quality import context, evidence, production, samples, stored
from bench.quality.context import Filling, Reader
from bench.quality.embedding_server import Embeddings, literal
from bench.quality.evidence import Question
from bench.quality.fillers import Fillers
from bench.quality.model_server import ModelServer
from bench.quality.stored import Database, EmbeddingModel, Stored
from tests.support.fake_model_server import FakeModelServer, RecordedRequest
from tests.support.model_rules import embedding
from tests.support.servers import Server

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

    def test_whole_when_all_turns_are_held(self) -> None:
        filling = reader().fill(QUESTION, [("message", "The cat sleeps all day. The cat eats fish.")])
        assert filling.is_whole

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
        assert (together["whole"], together["whole_or_remembered"]) == (0.5, 1)

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


class TestModelServer:
    def test_extraction_says_what_was_observed_of_the_users_messages(self) -> None:
        given = [
            {
                **SAMPLE,
                "observation": {
                    "session_1_observation": {
                        "Ann": [["Ann's cat sleeps a lot.", "D1:1"]],
                        "Bob": [["Bob knows what the cat eats.", "D1:2"]],
                    }
                },
            }
        ]
        with ModelServer(Embeddings([], "embedder"), given) as server:
            memories = extracted(server, 4, "user", "Ann", "Hi. The cat sleeps all day.")
            assert [(each["content"], each["seqs"]) for each in memories] == [("Ann's cat sleeps a lot.", [4])]
            assert extracted(server, 5, "assistant", "Bob", "The cat eats fish.") == []
            assert extracted(server, 6, "user", "Eve", "The cat sleeps all day.") == []

    def test_each_text_is_embedded_once(self) -> None:
        with FakeModelServer(dimensions=DIMENSIONS) as model:
            embeddings = Embeddings([model.url], "embedder")
            with ModelServer(embeddings, [SAMPLE]) as server:
                through = Embeddings([server.url], "embedder")
                assert through.of(["cat", "fish", "cat"]) == [
                    array("f", embedding(text, DIMENSIONS)) for text in ("cat", "fish", "cat")
                ]
                assert embeddings.of(["fish"]) == through.of(["fish"])
            assert [request.body["input"] for request in model.requests] == [["cat", "fish"]]


def extracted(server: FakeModelServer, seq: int, role: str, name: str, content: str) -> Any:
    """The memories that the server finds in a message."""
    message = json.dumps({"seq": seq, "role": role, "name": name, "content": content})
    memory = {"properties": {"memory_type": {"enum": ["fact"]}}}
    shape = {"name": "extract_memories", "schema": {"properties": {"memories": {"items": memory}}}}
    body = {
        "model": "chat",
        "messages": [{"role": "user", "content": f"<conversation>\n{message}\n</conversation>"}],
        "response_format": {"type": "json_schema", "json_schema": shape},
    }
    request = RecordedRequest("/v1/chat/completions", {}, body, at=0, connection=0)
    _, reply = server.reply(request, server.take_behaviour(request))
    return json.loads(json.loads(reply)["choices"][0]["message"]["content"])["memories"]


class TestProduction:
    def test_the_same_messages_come_with_memories(self, told: tuple[Database, Stored], server: Server) -> None:
        source, _ = told
        observed = {"session_1_observation": {"Ann": [["Ann's cat sleeps a lot.", "D1:1"]]}}
        with (
            FakeModelServer(dimensions=DIMENSIONS) as embedder,
            ModelServer(Embeddings([embedder.url], "embedder"), [{**SAMPLE, "observation": observed}]) as model,
            stored.database(server, "lived") as target,
        ):
            made = production.load(source, target, EmbeddingModel(model.url, "embedder", DIMENSIONS))
            assert (made["messages"], made["memories"]) == (3, 1)
            assert _messages(target) == _messages(source)
            assert target.connection.execute("select content, source_seqs from memory.memories").fetchall() == [
                ("Ann's cat sleeps a lot.", [0])
            ]
            assert _embeddings(target) == _embeddings(source) + 1


def _messages(database: Database) -> list[Any]:
    return database.connection.execute(
        "select user_id, thread_id, seq, role, content, metadata, created_at from memory.messages order by 1, 2, 3"
    ).fetchall()


def _embeddings(database: Database) -> int:
    rows = database.connection.execute("select count(*) from memory.texts where model is not null")
    return int((rows.fetchone() or (0,))[0])
