"""Embeddings as lists, as arrays of numpy, and as the types of the package pgvector."""

from __future__ import annotations

from typing import Any

import numpy
import pytest
from agent_memory import InvalidValueError, Memory
from agent_memory.calls import WorkerProtocol, functions
from pgvector import HalfVector, Vector

from tests.support.sqlapi import Api

EAST = [1.0, 0.5, -0.25]
SAME: dict[str, Any] = {
    "a list": EAST,
    "a tuple": tuple(EAST),
    "numpy float32": numpy.array(EAST, "float32"),
    "numpy float64": numpy.array(EAST),
    "numpy float16": numpy.array(EAST, "float16"),
    "Vector": Vector(EAST),
    "HalfVector": HalfVector(EAST),
}
TOO_LARGE = [1e39, 0.0, 0.0]


@pytest.fixture
def memory(api: Api) -> Memory:
    memory = Memory(api.connection)
    memory.admin.register_model("compass", "embedding", "openai", "compass", {"dimensions": 3})
    memory.admin.activate_model("compass")
    memory.add_memory("ana", "Lives in the east")
    worker = WorkerProtocol(memory.caller)
    [job] = worker.claim_jobs("test", ["embed"])
    worker.complete_job(job.user_id, job.job_id, job.lease_token, {"embeddings": [EAST]})
    return memory


def test_each_call_takes_it_and_it_is_kept_for_the_searches_that_follow(memory: Memory) -> None:
    east = SAME["numpy float32"]
    assert "east" in memory.render_memories("ana", query_embedding=east)
    assert memory.get_context("ana", "t", query_embedding=east)
    assert memory.expand_refs("ana", "east", query="east", query_embedding=east) == "east"
    worker = WorkerProtocol(memory.caller)
    wanted = worker.query_to_embed("ana", "where?")
    assert wanted is not None
    assert worker.keep_query_embedding("ana", "where?", wanted.model, east)
    assert memory.search("ana", "where?", mode="vector")[0].score == pytest.approx(1)


@pytest.mark.parametrize("kind", SAME)
def test_each_type_is_sent_in_the_binary_format_of_pgvector(kind: str) -> None:
    sent = functions.SEARCH.sendable({"user_id": "ana", "query_embedding": SAME[kind]})
    assert sent["query_embedding"] == Vector(EAST).to_binary()


def test_a_schema_that_no_search_path_names_is_no_matter(memory: Memory, api: Api) -> None:
    api.connection.execute("set search_path = pg_catalog")
    assert memory.search("ana", query_embedding=numpy.array(EAST), mode="vector")


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        (numpy.array([1.0, numpy.nan, 0.0]), "query_embedding must not contain NaN or infinity"),
        (numpy.array([[1.0], [2.0]]), "query_embedding must be a sequence of numbers"),
        (TOO_LARGE, "query_embedding is out of range"),
    ],
)
def test_no_embedding_is_refused_by_name(memory: Memory, value: Any, problem: str) -> None:
    with pytest.raises(InvalidValueError, match=problem):
        memory.search("ana", query_embedding=value)
