"""Relevance: how much a text has to do with a query, comparable between queries."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from tests.support.search_world import embed
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("E4", "F11", "F30")

NEAR, FAR = [4, 3, 0], [0, 3, 4]  # cosines of 0.8 and 0 with [1, 0, 0]


@pytest.fixture
def floored(api: Api) -> Api:
    """A database whose model says that texts have nothing in common below a cosine of 0.2."""
    _register(api, nothing_below=0.2)
    return api


def _register(api: Api, model: str = "m", **settings: Any) -> None:
    api.register_model(name="three", kind="embedding", provider="openai", model=model,
             settings={"dimensions": 3, **settings})  # fmt: skip


def _remember(api: Api, content: str, vector: Any = None) -> UUID:
    memory_id: UUID = api.add_memory(user_id="ana", content=content).memory_id
    if vector is not None:
        embed(api, memory_id, vector)
    return memory_id


def _found(api: Api, query: str | None, vector: Any = (1, 0, 0), **arguments: Any) -> dict[str, float | None]:
    target = None if vector is None else str(list(vector))
    found = api.search(user_id="ana", query=query, query_embedding=target, **arguments)
    return {result.content: result.relevance for result in found}


class TestRelevance:
    def test_meaning_and_words_each_make_a_text_relevant(self, floored: Api) -> None:
        _remember(floored, "Likes tea", FAR)
        _remember(floored, "Prefers hot drinks", NEAR)
        _remember(floored, "Owns a boat", FAR)
        found = _found(floored, "tea")
        assert found == {"Likes tea": pytest.approx(1), "Prefers hot drinks": pytest.approx(0.75), "Owns a boat": 0}
        assert _found(floored, "tea", mode="keyword", vector=None) == {"Likes tea": pytest.approx(1)}
        assert _found(floored, None, mode="vector")["Prefers hot drinks"] == pytest.approx(0.75)

    def test_every_way_of_searching_says_the_same(self, floored: Api) -> None:
        _remember(floored, "Likes green tea", NEAR)
        _remember(floored, "Owns a green boat", [3, 4, 0])
        _remember(floored, "Drinks coffee")
        alone = _found(floored, "green tea", sources=["memory"])
        assert len(alone) == 2
        assert alone["Owns a green boat"] is not None
        assert _found(floored, "green tea") == pytest.approx(alone)
        assert _found(floored, "green tea", sources=["memory"], explain=True) == pytest.approx(alone)
        by_meaning = _found(floored, "green tea", mode="vector", sources=["memory"])
        assert by_meaning == pytest.approx(_found(floored, "green tea", mode="vector"))
        assert by_meaning["Owns a green boat"] == pytest.approx(0.5)

    def test_the_value_of_an_attribute_that_the_query_names_is_relevant(self, floored: Api) -> None:
        floored.add_memory(user_id="ana", content="Is at Acme", attribute="employer")
        assert _found(floored, "Where do I work?") == {"Is at Acme": 1}

    def test_without_a_known_floor_words_alone_say_something(self, api: Api) -> None:
        _register(api)
        _remember(api, "Likes tea", FAR)
        _remember(api, "Prefers hot drinks", NEAR)
        assert _found(api, "tea") == {"Likes tea": pytest.approx(1), "Prefers hot drinks": None}
        assert set(_found(api, "tea", min_relevance=0.9)) == {"Likes tea", "Prefers hot drinks"}

    def test_the_floor_of_a_model_that_the_product_knows_is_built_in(self, api: Api) -> None:
        _register(api, "sentence-transformers/all-MiniLM-L6-v2")
        api.activate_model(name="three")
        _remember(api, "Prefers hot drinks", NEAR)
        assert _found(api, "tea") == {"Prefers hot drinks": pytest.approx(0.75)}


class TestLeast:
    @pytest.mark.parametrize("arguments", [{}, {"sources": ["memory"]}, {"mode": "vector"}])
    def test_what_is_less_relevant_is_left_out(self, floored: Api, arguments: dict[str, Any]) -> None:
        _remember(floored, "Prefers hot drinks", NEAR)
        _remember(floored, "Owns a boat", [3, 4, 0])
        assert set(_found(floored, "beverage", min_relevance=0.4, **arguments)) == {"Prefers hot drinks", "Owns a boat"}
        assert set(_found(floored, "beverage", min_relevance=0.6, **arguments)) == {"Prefers hot drinks"}
        assert _found(floored, "beverage", min_relevance=0.8, **arguments) == {}

    def test_it_is_left_out_before_the_best_are_chosen(self, floored: Api) -> None:
        for number in range(30):
            floored.add_message(user_id="ana", thread_id="t1", role="user", content=f"A boat with {number} sails")
        _remember(floored, "The boat carries tea", NEAR)
        found = _found(floored, "boat tea", min_relevance=0.7, top_k=1)
        assert set(found) == {"The boat carries tea"}

    def test_the_policy_sets_it_and_the_argument_wins(self, floored: Api) -> None:
        _remember(floored, "Prefers hot drinks", NEAR)
        floored.set_policy(settings={"search": {"min_relevance": 0.8}})
        assert _found(floored, "beverage") == {}
        assert set(_found(floored, "beverage", min_relevance=0)) == {"Prefers hot drinks"}


class TestWhatTheModelReads:
    """A hybrid search counts meaning as far as the cosines of the model say something."""

    @pytest.mark.parametrize(
        ("model", "query", "kinds"),
        [
            ("all-MiniLM-L6-v2", "她喜欢喝什么茶", {"keyword"}),
            ("all-MiniLM-L6-v2", "Which tea does 李 drink?", {"vector", "keyword"}),
            ("multilingual-e5-small", "她喜欢喝什么茶", {"vector", "keyword"}),
        ],
    )
    def test_words_alone_decide_in_a_script_that_the_model_does_not_read(
        self, api: Api, model: str, query: str, kinds: set[str]
    ) -> None:
        _register(api, model)
        for content in ("她喜欢喝绿茶", "Она пьёт зелёный чай", "李 drinks green tea"):
            _remember(api, content, NEAR)
        target = str([1, 0, 0])
        best = api.search(user_id="ana", query=query, query_embedding=target, explain=True)[0]
        assert kinds == {"vector", "keyword"} & set(best.details)
        assert api.search(user_id="ana", query=query, query_embedding=target, mode="vector")
