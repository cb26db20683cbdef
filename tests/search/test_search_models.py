"""Search that asks models itself: queries embedded in the database, and results reranked."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from tests.support.fake_model_server import SERVER_ERROR, Behaviour, FakeModelServer
from tests.support.model_rules import embedding
from tests.support.protocol import claim, complete
from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import Server
from tests.support.sqlapi import Api, refused

TEXTS = ("Rides a green bicycle to work", "Green tea is what Ana drinks", "Has a black coffee at noon")
QUESTION = "which drinks, green or black?"


@pytest.fixture
def fake() -> Iterator[FakeModelServer]:
    with FakeModelServer(dimensions=64) as server:
        yield server


@pytest.fixture
def api(server: Server, api: Api, fake: FakeModelServer) -> Api:
    """A user with three memories, embedded by the active model."""
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    register(api, fake, "embedder", "embedding")
    for text in TEXTS:
        api.add_memory(user_id="ana", content=text)
    job = claim(api)
    complete(api, job, embeddings=[embedding(text["text"], 64) for text in job.payload["texts"]])
    return api


def register(api: Api, fake: FakeModelServer, name: str, kind: str, **settings: Any) -> None:
    api.register_model(name=name, kind=kind, provider="openai", model=name, settings={"base_url": fake.url, **settings})
    api.activate_model(name=name)


def search(api: Api, query: str = QUESTION, **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "sources": ["memory"], **arguments})
    return found


def degraded(api: Api) -> list[str]:
    return [notice for notice in api.notices if notice.startswith("degraded: ")]


class TestQueryEmbedding:
    @pytest.mark.feature("E4", "B12")
    def test_a_query_in_words_is_compared_by_meaning(self, api: Api, fake: FakeModelServer) -> None:
        results = search(api, "tea", mode="vector", explain=True)
        assert results[0].content == TEXTS[1]
        assert {result.details["vector"]["model"] for result in results} == {"embedder"}
        assert [request.body["input"] for request in fake.requests] == [["tea"]]
        assert degraded(api) == []

    def test_the_same_query_is_paid_for_once(self, api: Api, fake: FakeModelServer) -> None:
        first = search(api)
        assert search(api) == first
        assert [r.content for r in search(api, mode="vector")] != []
        assert len(fake.requests) == 1
        assert api.query("select user_id, kind, model from memory.model_calls where kind = 'search'") == [
            ("ana", "search", "embedder")
        ]
        api.search(user_id="bob", query=QUESTION)
        assert len(fake.requests) == 2

    def test_kept_embeddings_of_queries_do_not_hold_their_words_and_are_swept(self, api: Api) -> None:
        search(api)
        [row] = api.query("select * from memory.query_embeddings")
        assert "drinks" not in str(row)
        api.connection.execute("update memory.query_embeddings set created_at = now() - interval '31 days'")
        api.sweep()
        assert api.query("select from memory.query_embeddings") == []

    @pytest.mark.feature("A14")
    @pytest.mark.parametrize("behaviour", [SERVER_ERROR, Behaviour(body="nonsense")])
    def test_a_model_that_fails_leaves_keyword_search(
        self, api: Api, fake: FakeModelServer, behaviour: Behaviour
    ) -> None:
        fake.behaviour = behaviour
        assert {result.content for result in search(api)} == {*TEXTS}
        assert len(degraded(api)) == 1
        assert "keyword" in degraded(api)[0]
        with refused("mode"):
            search(api, mode="vector")

    @pytest.mark.feature("F7")
    def test_a_spent_budget_leaves_keyword_search(self, api: Api, fake: FakeModelServer) -> None:
        api.set_policy(settings={"budget": {"tokens_per_user_per_day": 1}}, user_id="ana")
        assert search(api) != []
        assert "tokens_per_user_per_day" in degraded(api)[0]
        assert fake.requests == []

    @pytest.mark.feature("F7")
    def test_a_budget_is_not_kept_from_others_until_the_transaction_ends(self, api: Api, connect: Any) -> None:
        api.set_policy(settings={"budget": {"tokens_per_agent_per_day": 10_000}})
        other = Api(connect())
        with api.connection.transaction():
            search(api, "tea", agent_id="default")
            assert search(other, "coffee", agent_id="default")[0].content == TEXTS[2]
        assert degraded(other) == []

    def test_the_context_waits_for_no_model_if_told_not_to(self, api: Api, fake: FakeModelServer) -> None:
        api.set_policy(settings={"context": {"embed_query": False}})
        api.get_context(user_id="ana", thread_id="t", query=QUESTION)
        api.render_memories(user_id="ana", query=QUESTION)
        assert fake.requests == []
        api.set_policy(settings={"context": {"embed_query": None}})
        api.get_context(user_id="ana", thread_id="t", query=QUESTION)
        api.render_memories(user_id="ana", query=QUESTION)
        assert len(fake.requests) == 1


class TestRerank:
    @pytest.mark.feature("A18")
    @pytest.mark.parametrize("rerank_api", ["rerank", "chat"])
    def test_a_model_puts_the_results_into_their_order(self, api: Api, fake: FakeModelServer, rerank_api: str) -> None:
        register(api, fake, "judge", "rerank", rerank_api=rerank_api)
        results = search(api, "black coffee", query_embedding=None, rerank=True, explain=True, top_k=2)
        assert results[0].content == TEXTS[2]
        assert [result.details["rerank"]["rank"] for result in results] == [1, 2]
        assert [result.score for result in results] == [result.details["rerank"]["score"] for result in results]
        assert all(0 <= result.score <= 1 for result in results)
        assert api.value("select count(*) from memory.model_calls where kind = 'rerank' and model = 'judge'") == 1

    @pytest.mark.feature("A18", "A14")
    @pytest.mark.parametrize("behaviour", [SERVER_ERROR, Behaviour(body='{"results": []}')])
    def test_the_order_stays_when_it_fails(self, api: Api, fake: FakeModelServer, behaviour: Behaviour) -> None:
        without = search(api)
        register(api, fake, "judge", "rerank")
        fake.behaviour = behaviour
        assert search(api, rerank=True) == without
        assert len(degraded(api)) == 1
        assert "not reranked" in degraded(api)[0]

    @pytest.mark.feature("A18", "A14")
    def test_without_a_model_it_says_so(self, api: Api) -> None:
        assert search(api, rerank=True) == search(api)
        assert degraded(api) == ["degraded: results are not reranked, no rerank model is active"]

    @pytest.mark.feature("A18", "A19")
    def test_a_policy_that_names_a_model_has_every_search_of_the_agent_reranked(
        self, api: Api, fake: FakeModelServer
    ) -> None:
        register(api, fake, "judge", "rerank")
        api.set_policy(settings={"knowledge_base": {"rerank_model": "judge"}}, agent_id="default")
        fake.behaviour = Behaviour(scores=lambda scores: [number / 10 for number in range(len(scores))])
        first, second, third = (
            [result.content for result in search(api, mode="keyword", **more)]
            for more in ({}, {"agent_id": "default"}, {"agent_id": "default", "rerank": False})
        )
        assert (sorted(first), second, third) == (sorted(TEXTS), first[::-1], first)
        assert [request.path for request in fake.requests] == ["/v1/rerank"]
        fake.requests.clear()
        assert api.search(user_id="ana", query_embedding=str([1.0] * 64), agent_id="default") != []
        assert (fake.requests, degraded(api)) == ([], [])

    @pytest.mark.feature("A10", "A18")
    def test_earlier_conversations_are_reranked_before_the_best_five_are_shown(
        self, api: Api, fake: FakeModelServer
    ) -> None:
        for number in range(8):
            api.add_message(user_id="ana", thread_id=f"t{number}", role="user", content=f"Hello {number}")
            api.connection.execute(
                "insert into memory.summaries (user_id, summary_id, thread_id, kind, status, start_seq, end_seq,"
                " agent_ids, summary)"
                " values ('ana', memory._uuid_v7(), %s, 'thread', 'completed', 0, 0, '{default}', %s)",
                [f"t{number}", f"The boat {number}."],
            )
        register(api, fake, "judge", "rerank")
        api.set_policy(settings={"context": {"embed_query": False, "recall": False},
                                 "knowledge_base": {"enable_cross_session_context": True}})  # fmt: skip
        fake.behaviour = Behaviour(scores=lambda scores: [0.9 if number == 7 else 0.1 for number in range(len(scores))])

        def shown() -> list[str]:
            context = api.get_context(user_id="ana", thread_id="now", query="What did we discuss about the boat?")
            [part] = [part for part in context if part.source == "cross_session"]
            return [result["thread_id"] for result in part.metadata["results"]]

        before = shown()
        assert before == ["t7", "t6", "t5", "t4", "t3"]  # alike, so the newest
        api.set_policy(settings={"knowledge_base": {"rerank_model": "judge"}})
        assert shown() == ["t0", *before[:4]]
        fake.behaviour = SERVER_ERROR
        assert shown() == before
        assert "not reranked" in api.notices[-1]


@pytest.mark.feature("F4")
def test_a_model_dropped_while_it_embeds_a_query_serves_that_query(
    api: Api, fake: FakeModelServer, connect: Any
) -> None:
    """The statement sees one state of the database, however long the model takes."""
    register(api, fake, "next", "embedding")  # not filled yet, so the first one serves
    api.set_policy(settings={"context": {"max_memories": 2}})  # one stands in every context, one is asked for
    gate = threading.Event()
    fake.behaviour = Behaviour(gate=gate)
    searcher, speaker = Api(connect()), Api(connect())
    with ThreadPoolExecutor(2) as pool:
        results = pool.submit(search, searcher, "tea", mode="vector", explain=True)
        context = pool.submit(speaker.get_context, user_id="ana", thread_id="thread", query="beverages")
        wait_until(lambda: len(fake.requests) == 2)
        api.drop_model(name="embedder")
        assert not results.done()
        assert not context.done()
        gate.set()
        assert {row.details["vector"]["model"] for row in results.result(PATIENCE)} == {"embedder"}
        assert {row.content for row in results.result()} == {*TEXTS}
        assert context.result(PATIENCE)  # without what only the dropped model could have found
    assert degraded(speaker) == []
