"""The embedding of a query: given, kept from before, or made by a model; and who may search."""

from __future__ import annotations

import psycopg
import pytest

from tests.search.vector.steps import found, keep_query, remember, search
from tests.support.search_world import embed, register
from tests.support.sqlapi import Api, refused, rolled_back


class TestQueryEmbedding:
    @pytest.mark.parametrize("mode", ["hybrid", "vector"])
    def test_of_wrong_length_is_refused_with_both_numbers(self, api: Api, mode: str) -> None:
        with refused("query_embedding") as refusal:
            search(api, "tea", [1, 2, 3, 4], mode=mode)
        assert 'has 4 dimensions, model "three" has 3' in str(refusal.value)

    @pytest.mark.parametrize("mode", ["hybrid", "vector"])
    def test_without_direction_is_refused(self, api: Api, mode: str) -> None:
        with refused("query_embedding"):
            search(api, "tea", [0, 0, 0], mode=mode)

    @pytest.mark.parametrize("vector", ["[1,2,NaN]", "[]", "[1e60,1,1]"])
    def test_that_is_none_is_refused(self, api: Api, vector: str) -> None:
        with pytest.raises(psycopg.DataError):
            search(api, "tea", vector)

    @pytest.mark.parametrize("scale", [1e-30, 1e4, 1e30])
    def test_may_have_any_length_in_space(self, api: Api, scale: float) -> None:
        """Some models do not normalise; only the direction counts."""
        remember(api, "near", [1, 2, 3])
        remember(api, "far", [3, -2, 1])
        [near, far] = search(api, None, [scale, 2 * scale, 3 * scale], mode="vector")
        assert (near.content, far.content) == ("near", "far")
        assert (near.score, far.score) == (pytest.approx(1, abs=1e-3), pytest.approx(2 / 14, abs=1e-3))

    def test_is_compared_with_the_model_of_its_length(self, api: Api) -> None:
        memory_id = remember(api, "Likes tea", [1, 0, 0])
        register(api, "two", 2)
        embed(api, memory_id, [0, 1], model="two")
        for vector, model, score in (([1, 0, 0], "three", 1), ([0, 1], "two", 1), ([1, 0], "two", 0)):
            [result] = search(api, None, vector, mode="vector", explain=True)
            assert (result.details["vector"]["model"], result.score) == (model, score)

    @pytest.mark.feature("A14")
    @pytest.mark.parametrize("registered", [False, True])
    def test_without_a_model_hybrid_says_that_it_searches_by_keyword(self, shared_api: Api, registered: bool) -> None:
        with rolled_back(shared_api) as api:
            if registered:
                register(api, "unused")  # has embedded nothing, so nobody knows how long its vectors are
                api.activate_model(name="unused")
            remember(api, "Likes tea")
            assert found(api, "tea", [1, 0, 0]) == ["Likes tea"]
            problem = 'model "unused" has not embedded anything yet' if registered else "no embedding model is active"
            assert api.notices == [f"degraded: searching by keyword only, {problem}"]
            with refused("mode") as refusal:
                search(api, "tea", [1, 0, 0], mode="vector")
            assert problem in str(refusal.value)

    def test_is_taken_from_the_last_time_that_somebody_asked_the_same(self, api: Api) -> None:
        remember(api, "Likes tea", [1, 0, 0])
        keep_query(api, "beverage?", [1, 0, 0])
        assert found(api, "beverage?") == found(api, "beverage?", mode="vector") == ["Likes tea"]
        assert api.notices == []


# Whoever searches -----------------------------------------------------------------------------------------------------


def test_a_transaction_that_may_only_read_can_search(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    keep_query(api, "tea", [1, 0, 0])
    with api.connection.transaction(force_rollback=True):
        api.connection.execute("set transaction_read_only = on")
        for mode in ("hybrid", "vector", "keyword"):
            assert found(api, "tea", [1, 0, 0], mode=mode) == found(api, "tea", mode=mode) == ["Likes tea"]
        api.connection.execute("set transaction_read_only = on")  # still is
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            remember(api, "Likes cake")


def test_a_search_needs_no_right_but_that_to_call_the_function(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    api.connection.execute("create role asker")
    api.connection.execute("grant usage on schema memory to asker")
    signature = api.value("select oid::regprocedure::text from pg_proc where oid::regproc = 'memory.search'::regproc")
    api.connection.execute(f"grant execute on function {signature} to asker")
    api.connection.execute("set role asker")
    for mode in ("hybrid", "vector", "keyword"):
        assert found(api, "tea", [1, 0, 0], mode=mode, explain=True) == ["Likes tea"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.query("select from memory.texts where model is not null")
