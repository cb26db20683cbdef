"""Compressed messages are out of their thread, and search finds them."""

from __future__ import annotations

import random
from typing import Any

import pytest

from tests.support.protocol import activate, age, make_due, say
from tests.support.sqlapi import Api
from tests.support.summaries import COMPRESSION, compress, compressing, only

QUERIES = ["tea boat", "lamp", "fern moss kite", "drum salt tea", "Ana kite", "May"]


def found(api: Api, query: str | None = "boat", **arguments: Any) -> list[str]:
    results = api.search(**{"user_id": "ana", "query": query, "sources": ["message"], "mode": "keyword", **arguments})
    return [result.id for result in results]


def compressed(api: Api, *contents: str) -> None:
    """A thread of which everything but four greetings is compressed."""
    compressing(api)
    say(api, *contents, *["Hello"] * 4)
    compress(api)


@pytest.mark.feature("A7", "E4", "E6")
def test_search_gives_the_same_results_before_and_after_a_compression(api: Api) -> None:
    activate(api, "ada", "embedding")
    only(api)
    chance = random.Random(7)
    words = ["tea", "boat", "lamp", "fern", "moss", "kite", "drum", "salt"]
    for thread in ("t1", "t2"):
        contents = [" ".join(chance.choices(words, k=chance.randrange(2, 9))) for _ in range(60)]
        api.add_messages(
            user_id="ana", thread_id=thread, messages=[{"role": "user", "content": each} for each in contents]
        )
    while api.finish_jobs():
        pass
    dimensions = api.value("select dimensions from memory.models where name = 'ada'")
    vectors = [str([chance.gauss(0, 1) for _ in range(dimensions)]) for _ in QUERIES]

    def ranked() -> list[list[Any]]:
        shared: dict[str, Any] = {"user_id": "ana", "sources": ["message"], "top_k": 10}
        ways: list[dict[str, Any]] = []
        for query, vector in zip(QUERIES, vectors, strict=True):
            ways += [
                {"mode": "keyword", "query": query},
                {"mode": "vector", "query_embedding": vector, "query": None},
                {"mode": "hybrid", "query": query, "query_embedding": vector},
            ]
        return [[(row.id, row.score, row.content) for row in api.search(**shared, **way)] for way in ways]

    before = ranked()
    only(api, compression=COMPRESSION | {"enabled": False})
    for thread in ("t1", "t2"):
        api.compress_thread(user_id="ana", thread_id=thread)
    while api.finish_jobs():
        pass
    assert [thread.message_count for thread in api.list_threads(user_id="ana")] == [4, 4]
    assert ranked() == before
    age(api, 8, "messages", "updated_at")
    api.sweep()
    assert ranked() == before


@pytest.mark.feature("A7", "A11")
@pytest.mark.parametrize(
    "end", ["select memory.delete_thread('ana', 't1')", "update memory.messages set expires_at = '2020-01-01'"]
)
def test_a_compressed_message_that_is_gone_is_not_found(api: Api, end: str) -> None:
    activate(api, "ada", "embedding")
    compressed(api, "We bought a boat")
    while api.finish_jobs():
        pass
    assert found(api) == ["t1/0"]
    vector = api.value("select embedding::text from memory.texts where model is not null and id = 't1/0'")
    assert found(api, query=None, query_embedding=vector, mode="vector")[0] == "t1/0"
    api.connection.execute(end)
    assert found(api) == []
    assert "t1/0" not in found(api, query=None, query_embedding=vector, mode="vector")
    api.sweep()
    make_due(api)
    while api.finish_jobs():
        pass
    assert api.query("select from memory.messages where content = 'We bought a boat'") == []
    assert api.query("select from memory.texts where model is not null and id = 't1/0'") == []
