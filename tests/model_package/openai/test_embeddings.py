"""Embeddings of a provider: batches, dimensions, and replies that are refused."""

from __future__ import annotations

import base64
import json
import math
import struct

import pytest
from agent_memory_models import ModelError, as_json

from tests.model_package.openai.steps import chat
from tests.support.fake_model_server import (
    WRONG_COUNT,
    WRONG_DIMENSION,
    Behaviour,
    FakeModelServer,
)
from tests.support.model_payloads import Json, embedding_job, run
from tests.support.model_rules import embedding


# Embeddings
@pytest.mark.feature("E6")
def test_texts_are_embedded_in_batches(fake: FakeModelServer) -> None:
    texts = [f"text number {number}" for number in range(5)]
    calls: list[Json] = []
    result = run("embed", embedding_job(*texts, model=chat(fake, batch_size=2)), calls)
    assert result["embeddings"] == [embedding(text, 8) for text in texts]
    assert [request.body["input"] for request in fake.requests] == [texts[:2], texts[2:4], texts[4:]]
    assert all(request.body["encoding_format"] == "base64" for request in fake.requests)
    assert not any("dimensions" in request.body for request in fake.requests)
    assert [call["tokens_in"] for call in calls] == [8, 8, 4]
    assert {call["tokens_out"] for call in calls} == {0}


@pytest.mark.feature("F12")
@pytest.mark.usefixtures("encodings")
def test_tokens_are_counted_of_texts_that_ask_for_it(fake: FakeModelServer) -> None:
    payload = embedding_job("Likes tea", "Owns a boat", model=chat(fake))
    assert "token_counts" not in run("embed", payload)
    payload["texts"][1]["count"] = True
    assert run("embed", payload)["token_counts"] == [None, 4]


def in_base64(body: str) -> str:
    """The body of a server that sends numbers as they were asked for."""
    reply = json.loads(body)
    for row in reply["data"]:
        row["embedding"] = base64.b64encode(struct.pack(f"<{len(row['embedding'])}f", *row["embedding"])).decode()
    return json.dumps(reply)


@pytest.mark.feature("E6")
def test_numbers_come_in_four_bytes_from_servers_that_send_them_so(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(body=in_base64)
    result = run("embed", embedding_job("jazz", "tea", model=chat(fake)))
    assert result["embeddings"] == [pytest.approx(embedding(text, 8)) for text in ("jazz", "tea")]


@pytest.mark.feature("E6")
def test_a_server_that_refuses_base64_is_asked_for_digits_from_then_on(fake: FakeModelServer) -> None:
    fake.behaviour = Behaviour(refuses=("base64",))
    calls: list[Json] = []
    result = run("embed", embedding_job("jazz", "tea", model=chat(fake, batch_size=1)), calls)
    assert result["embeddings"] == [embedding("jazz", 8), embedding("tea", 8)]
    assert [request.format for request in fake.requests] == ["base64", "float", "float"]
    assert [call["error"] is None for call in calls] == [False, True, True]


@pytest.mark.feature("E6")
def test_numbers_are_handed_in_with_six_digits(fake: FakeModelServer) -> None:
    result = {**run("embed", embedding_job("jazz and tea", model=chat(fake))), "said": 'a "word"'}
    wanted = [[float(f"{number:.6g}") for number in vector] for vector in result["embeddings"]]
    written = json.loads(as_json(result))
    assert [json.loads(vector) for vector in written.pop("vectors")] == wanted
    assert written == {name: value for name, value in result.items() if name != "embeddings"}
    assert as_json({"embeddings": [[0.12345678]]}) == '{"embeddings": [[0.12345678]]}'


def test_an_embedding_request_has_128_texts_unless_set_and_asks_for_a_dimension_that_is(fake: FakeModelServer) -> None:
    result = run("embed", embedding_job(*map(str, range(200)), model=chat(fake, dimensions=4)))
    assert {len(vector) for vector in result["embeddings"]} == {4}
    assert [(len(request.body["input"]), request.body["dimensions"]) for request in fake.requests] == [
        (128, 4),
        (72, 4),
    ]


def test_embeddings_come_back_in_order(fake: FakeModelServer) -> None:
    def swapped(body: str) -> str:
        reply = json.loads(body)
        return json.dumps({**reply, "data": reply["data"][::-1]})

    fake.behaviour = Behaviour(body=swapped)
    result = run("embed", embedding_job("jazz", "tea", model=chat(fake)))
    assert result["embeddings"] == [embedding("jazz", 8), embedding("tea", 8)]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        (WRONG_DIMENSION, "a vector of 7 dimensions instead of 8"),
        (WRONG_COUNT, "1 embeddings for 2 texts"),
        (Behaviour(body="<html>"), "not a list of embeddings"),
        (Behaviour(vectors=lambda vectors: [[2**-25, -1e-9] * 4, vectors[1]]), "a vector without direction"),
        (Behaviour(vectors=lambda vectors: [[math.inf] * 8, vectors[1]]), "finite number"),
        (Behaviour(vectors=lambda vectors: [[1.0, -65001.0] * 4, vectors[1]]), "a 2-byte float cannot hold"),
        (Behaviour(body=" " * (2 * 2**20 + 1)), "the reply is larger than 1 MiB"),
        (Behaviour(body='{"data": [{"embedding": "AAAA*"}]}'), r"data\.0\.embedding: .*base64"),
        (Behaviour(vectors=lambda vectors: [[math.nan] * 8, vectors[1]], body=in_base64), "finite number"),
    ],
)
def test_unusable_embeddings_are_refused(fake: FakeModelServer, behaviour: Behaviour, reason: str) -> None:
    fake.behaviour = behaviour
    with pytest.raises(ModelError, match=reason):
        run("embed", embedding_job("a", "b", model=chat(fake, dimensions=8)))


def test_a_dimension_that_changes_between_batches_is_refused(fake: FakeModelServer) -> None:
    fake.next_behaviours = [Behaviour(), WRONG_DIMENSION]
    with pytest.raises(ModelError, match="a vector of 7 dimensions instead of 8"):
        run("embed", embedding_job("a", "b", model=chat(fake, batch_size=1)))
