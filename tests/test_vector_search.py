"""Search by meaning and by both: exactly what comparing everything would find, and no more read than that needs."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import math
import random
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import psycopg
import pytest
from search_plans import fill, plan_of_ranking, reads, with_model
from search_reference import (
    DIMENSIONS,
    SOURCES,
    USERS,
    WORDS,
    World,
    embed,
    expect,
    insert,
    random_filters,
    register,
    single,
    text_vector,
)  # fmt: skip
from sqlapi import Api, refused, rolled_back


@pytest.fixture
def api(shared_api: Api) -> Iterator[Api]:
    """With an active embedding model of three dimensions."""
    with rolled_back(shared_api) as api:
        register(api, "three", dimensions=3)
        api.activate_model(name="three")
        yield api


def remember(api: Api, content: str, vector: Any = None, **arguments: Any) -> UUID:
    """Add a memory, embedded when there is a vector for it."""
    memory_id: UUID = api.add_memory(**{"user_id": "ana", "content": content, **arguments}).memory_id
    if vector is not None:
        embed(api, memory_id, vector)
    return memory_id


def say(api: Api, content: str, vector: Any = None, **arguments: Any) -> None:
    message = api.add_message(**{"user_id": "ana", "thread_id": "t1", "role": "user", "content": content, **arguments})
    if vector is not None:
        embed(api, f"t1/{message.seq}", vector, source="message")


def search(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[Any]:
    target = None if vector is None else str(vector)
    found: list[Any] = api.search(**{"user_id": "ana", "query": query, "query_embedding": target, **arguments})
    return found


def found(api: Api, query: str | None = None, vector: Any = None, **arguments: Any) -> list[str]:
    return [result.content for result in search(api, query, vector, **arguments)]


# Against a reference that compares everything ------------------------------------------------------------------------


@pytest.mark.feature("E4", "E3", "F1")
@pytest.mark.parametrize("seed", range(4))
def test_every_search_finds_what_comparing_everything_finds(shared_api: Api, seed: int) -> None:
    """About as many random users, filters and modes as there are ways to get one wrong."""
    with rolled_back(shared_api) as api:
        world = World(api, seed)
        chance = world.chance
        found_by_mode = dict.fromkeys(("vector", "keyword", "hybrid", "rrf"), 0)
        api.set_policy(settings={"search": {"fusion": "rrf"}}, user_id="cyd")
        for case in range(130):
            user_id = chance.choice(USERS)
            filters = {"sources": SOURCES, **random_filters(world)}
            mode = chance.choice(["vector", "vector", "keyword", "hybrid", "hybrid"])
            words = chance.sample([*WORDS, "zither"], chance.randrange(1, 4)) if mode != "vector" else []
            target = [chance.randrange(-3, 4) for _ in range(DIMENSIONS - 1)] + [1] if mode != "keyword" else None
            fusion = mode if mode != "hybrid" else "rrf" if user_id == "cyd" else "score"
            top_k, min_score = chance.choice([1, 3, 10, 1000]), chance.choice([None, None, 0.2, 0.55])
            expected = expect(world.visible(user_id, filters), words, target, fusion, min_score, top_k)
            results = search(
                api,
                " ".join(words) or None,
                target,
                user_id=user_id,
                mode=mode,
                top_k=top_k,
                min_score=min_score,
                **filters,
            )
            context = (case, user_id, mode, words, target, top_k, min_score, filters)
            tolerance = 0 if mode == "vector" else 1e-6
            assert [(r.source, r.id, r.content) for r in results] == [
                (row.source, row.result_id, row.shown) for _, row in expected
            ], context
            scores, right = [single(result.score) for result in results], [single(score) for score, _ in expected]
            assert scores == pytest.approx(right, abs=tolerance, rel=tolerance), context
            found_by_mode[fusion if fusion == "rrf" else mode] += len(results)
        assert min(found_by_mode.values()) > 0


@pytest.mark.feature("E4")
@pytest.mark.parametrize(
    ("query", "vector", "mode", "parses"),
    [
        ("tea", [1, 0, 0], "hybrid", True),
        ("tea", None, "keyword", True),
        ("the and of", [1, 0, 0], "hybrid", False),
        ("tea", [1, 0, 0], "vector", False),
        (None, [1, 0, 0], "hybrid", False),
    ],
)
def test_messages_are_parsed_only_to_compare_words(
    api: Api, query: str | None, vector: Any, mode: str, parses: bool
) -> None:
    say(api, "I like tea", [1, 0, 0])
    assert found(api, query, vector, mode=mode, sources=["message"]) == ["I like tea"]
    api.connection.execute(
        """
        create or replace function memory._message_vector(
          p_language regconfig, p_content text, p_metadata jsonb, p_created_at timestamptz
        ) returns tsvector language plpgsql immutable as 'begin raise division_by_zero; end'
        """
    )
    with pytest.raises(psycopg.errors.DivisionByZero) if parses else contextlib.nullcontext():
        assert found(api, query, vector, mode=mode, sources=["message"]) == ["I like tea"]


# Both arms ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("E4", "B12")
class TestHybrid:
    def test_what_is_not_embedded_is_found_by_its_words(self, api: Api) -> None:
        remember(api, "Likes tea")
        remember(api, "Owns a boat", [1, 0, 0])
        assert found(api, "tea", [1, 0, 0]) == ["Likes tea", "Owns a boat"]
        assert found(api, "tea", [1, 0, 0], mode="vector") == ["Owns a boat"]
        assert found(api, "tea", [1, 0, 0], mode="keyword") == ["Likes tea"]
        assert api.notices == []

    @pytest.mark.parametrize("query", ["beverage", "the of and", "👩🏽‍🚀"])
    def test_what_shares_no_word_is_found_by_its_meaning(self, api: Api, query: str) -> None:
        remember(api, "Likes tea", [2, 1, 0])
        remember(api, "Owns a boat", [0, 1, 2])
        assert found(api, query, [3, 1, 0]) == ["Likes tea", "Owns a boat"]

    def test_what_both_arms_find_is_ahead_of_what_one_finds(self, api: Api) -> None:
        for content, vector in (("Drinks tea", [0, 0, 1]), ("Likes tea", [9, 1, 0]), ("Owns a boat", [9, 0, 1])):
            remember(api, content, vector)
        assert found(api, "tea", [1, 0, 0])[0] == "Likes tea"

    @pytest.mark.feature("F11")
    @pytest.mark.parametrize("fusion", ["score", "rrf"])
    def test_explain_gives_the_rank_and_score_of_each_arm(self, api: Api, fusion: str) -> None:
        api.set_policy(settings={"search": {"fusion": fusion, "rrf_k": 10}})
        remember(api, "Likes green tea", [0, 0, 1])
        remember(api, "Likes tea", [4, 3, 0])
        remember(api, "Owns a boat", [1, 0, 0])
        remember(api, "Drinks cocoa")
        results = {r.content: r for r in search(api, "green tea", [1, 0, 0], explain=True)}
        green, tea, boat = (results[name] for name in ("Likes green tea", "Likes tea", "Owns a boat"))
        assert len(results) == 3
        assert [r.details["vector"] for r in (boat, tea, green)] == [
            {"rank": 1, "score": 1, "model": "three"},
            {"rank": 2, "score": pytest.approx(0.8), "model": "three"},
            {"rank": 3, "score": 0, "model": "three"},
        ]
        assert (green.details["keyword"]["rank"], green.details["keyword"]["score"]) == (1, 1)
        assert tea.details["keyword"]["rank"] == 2
        assert 0 < tea.details["keyword"]["score"] < 1
        assert (green.details["keyword"]["terms"].keys(), tea.details["keyword"]["terms"].keys()) == (
            {"green", "tea"},
            {"tea"},
        )
        assert "keyword" not in boat.details
        fused = {name: r.details["fused"] for name, r in results.items()}
        assert fused == {name: {"by": fusion, "score": r.score} for name, r in results.items()}
        if fusion == "rrf":
            assert green.score == pytest.approx((1 / (10 + 3) + 1 / (10 + 1)) * (10 + 1) / 2)
            assert boat.score == pytest.approx(1 / 2)
        else:
            assert tea.score == pytest.approx((0.8 + tea.details["keyword"]["score"]) / 2, abs=1e-6)
            assert (green.score, boat.score) == (0.5, 0.5)

    def test_without_explain_the_arms_are_not_shown(self, api: Api) -> None:
        remember(api, "Likes tea", [1, 0, 0])
        [result] = search(api, "tea", [1, 0, 0])
        assert result.details.keys().isdisjoint({"vector", "keyword", "fused", "rerank"})

    def test_policy_decides_how_the_arms_are_fused(self, api: Api) -> None:
        """By score a near miss in both arms loses to a clear first place; by rank it is as good as one."""
        for content, vector in (
            ("tea tea tea tea tea", [0, 0, 1]),
            ("tea " + "lamp " * 60, [1, 9, 9]),
            ("boat", [1, 0, 0]),
        ):
            remember(api, content, vector)
        by_score = found(api, "tea", [1, 0, 0])
        api.set_policy(settings={"search": {"fusion": "rrf"}}, user_id="ana")
        assert found(api, "tea", [1, 0, 0]) != by_score
        assert search(api, "tea", [1, 0, 0])[0].score == pytest.approx(max((1 / 61 + 1 / 63), (2 / 62)) * 61 / 2)

    def test_an_embedding_alone_ranks_by_meaning(self, api: Api) -> None:
        for content, vector in (("far", [0, 0, 1]), ("near", [5, 1, 0]), ("middle", [1, 1, 0])):
            remember(api, content, vector)
        results = search(api, None, [1, 0, 0], explain=True)
        assert [r.content for r in results] == ["near", "middle", "far"]
        assert all("keyword" not in r.details for r in results)

    @pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
    def test_the_order_of_storing_makes_no_difference(self, api: Api, mode: str) -> None:
        chance = random.Random(mode)
        rows = [(f"tea {'lamp ' * size} n{size}", [size, 7, chance.randrange(9)]) for size in range(20)]
        answers = []
        for user_id in ("ana", "bob", "cyd"):
            chance.shuffle(rows)
            for content, vector in rows:
                memory_id = remember(api, content, user_id=user_id)
                embed(api, memory_id, vector, user_id=user_id)
            results = search(api, "tea n3 n4", [1, 2, 3], mode=mode, user_id=user_id, top_k=100)
            answers.append([(r.content, r.score) for r in results])
        assert len(answers[0]) == 20
        assert answers[0] == answers[1] == answers[2]

    @pytest.mark.feature("E3")
    @pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
    @pytest.mark.parametrize("fusion", ["score", "rrf"])
    def test_no_filter_comes_after_the_limit(self, api: Api, mode: str, fusion: str) -> None:
        api.set_policy(settings={"search": {"fusion": fusion}})
        remember(
            api, "tea, though seldom and never in the morning", [1, 9, 9], agent_id="cook", tags=["rare"],
            thread_id="t9", metadata={"rare": True}, memory_type="preference", confidence=0.5,
        )  # fmt: skip
        for number in range(300):
            remember(api, f"tea {number}", [9, 1, number % 3], tags=["common"], thread_id="t1", confidence=0.25)
        filters: list[dict[str, Any]] = [
            {"agent_id": "cook"}, {"tags_all": ["rare"]}, {"tags_any": ["rare"]}, {"exclude_tags": ["common"]},
            {"thread_id": "t9"}, {"exclude_thread_id": "t1"}, {"filter": {"rare": True}}, {"min_confidence": 0.5},
            {"memory_types": ["preference"]},
        ]  # fmt: skip
        for arguments in filters:
            [result] = search(api, "tea", [1, 0, 0], mode=mode, top_k=1, **arguments)
            assert result.details["tags"] == ["rare"], arguments

    def test_min_score_keeps_the_better_in_every_mode(self, api: Api) -> None:
        for content, vector in (("Likes green tea", [1, 0, 0]), ("Likes tea", [4, 3, 0]), ("Owns a boat", [0, 0, 1])):
            remember(api, content, vector)
        for mode in ("hybrid", "vector", "keyword"):
            everything = search(api, "green tea", [1, 0, 0], mode=mode)
            for result in everything:
                kept = search(api, "green tea", [1, 0, 0], mode=mode, min_score=result.score)
                assert kept == [other for other in everything if other.score >= result.score]
        assert found(api, "green tea", [1, 0, 0], mode="vector", min_score=0.81) == ["Likes green tea"]
        assert found(api, "green tea", [1, 0, 0], mode="vector", min_score=0.81, rerank=None) == ["Likes green tea"]

    def test_a_message_gains_from_its_better_neighbour(self, api: Api) -> None:
        """The answer to a question is next to it."""
        for content, vector in (
            ("Where did we go?", [9, 9, 0]),
            ("Lisbon, I think", [0, 2, 9]),
            ("Nice weather", [0, 2, 9]),
        ):
            say(api, content, vector)
        results = search(api, "where", [9, 9, 0], sources=["message"], explain=True)
        assert [r.content for r in results] == ["Where did we go?", "Lisbon, I think", "Nice weather"]
        assert results[1].score > results[2].score
        assert results[1].details["fused"]["neighbour"] == results[0].details["fused"]["score"]
        assert [r.score for r in search(api, None, [9, 9, 0], sources=["message"], mode="vector")][1:] == [
            pytest.approx(18 / math.sqrt(162 * 85), abs=1e-6)
        ] * 2

    def test_a_document_is_found_once_by_its_best_piece(self, api: Api) -> None:
        document_id = api.add_document(
            user_id="ana", content="About boats.", title="Boats", namespace="sea", doc_type="manual"
        )
        for number, (content, vector) in enumerate([("Sails and masts.", [0, 1, 0]), ("Engines.", [1, 0, 0])], 1):
            insert(
                api, "document_chunks", "number", user_id="ana", document_id=document_id, number=number,
                content=content, search_vector=text_vector(api, "Boats " + content), token_count=3,
            )  # fmt: skip
            embed(api, f"{document_id}/{number}", vector, source="document")
        [result] = search(api, "boats", [9, 1, 0], mode="vector", explain=True)
        assert result[:4] == ("document", str(document_id), None, "Engines.")
        shown = {name: result.details[name] for name in ("title", "namespace", "doc_type", "chunk", "chunks")}
        assert shown == {"title": "Boats", "namespace": "sea", "doc_type": "manual", "chunk": 2, "chunks": 3}
        assert found(api, "masts", mode="keyword") == ["Sails and masts."]
        assert (
            found(api, "boats", [0, 1, 0], namespaces=["land"]) == found(api, "boats", [0, 1, 0], doc_types=["x"]) == []
        )


@pytest.mark.feature("E4", "A3")
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_what_is_hidden_never_appears(api: Api, mode: str) -> None:
    """Embeddings of hidden rows may be there; nobody is to find the rows by them."""
    seen = remember(api, "tea seen", [1, 0, 0])
    superseded = remember(api, "tea superseded", [1, 0, 0])
    api.supersede_memory(user_id="ana", old_memory_id=superseded, new_memory_id=seen, reason="contradict")
    api.delete_memory(user_id="ana", memory_id=remember(api, "tea deleted", [1, 0, 0]))
    remember(api, "tea expired", [1, 0, 0], expires_at="2020-01-01")
    remember(api, "tea no longer", [1, 0, 0], valid_from="2019-01-01", valid_to="2020-01-01")
    other = remember(api, "tea of bob", user_id="bob")
    embed(api, other, [1, 0, 0], user_id="bob")
    embed(api, other, [1, 0, 0])  # as if somebody had mixed them up
    say(api, "tea cleared", [1, 0, 0])
    api.clear_thread(user_id="ana", thread_id="t1")
    arguments: dict[str, Any] = {"mode": mode, "sources": SOURCES}
    assert found(api, "tea", [1, 0, 0], **arguments) == ["tea seen"]
    everything = found(api, "tea", [1, 0, 0], include_superseded=True, **arguments)
    assert sorted(everything) == ["tea no longer", "tea seen", "tea superseded"]
    assert found(api, "tea", [1, 0, 0], as_of="2019-06-01", **arguments) == ["tea no longer"]


# The embedding of a query ---------------------------------------------------------------------------------------------


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

    @pytest.mark.parametrize(
        "vector", ["[1,2,NaN]", "[1,2,Infinity]", "[]", "[1,2,x]", "[1,,2]", "{1,2,3}", "[1e60,1,1]"]
    )
    def test_that_is_none_is_refused(self, api: Api, vector: str) -> None:
        with pytest.raises(psycopg.DataError):
            search(api, "tea", vector)

    @pytest.mark.parametrize("scale", [1e-30, 1e-7, 1e-3, 1e4, 1e5, 1e30])
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

    def test_is_compared_with_the_active_model_of_several_of_its_length(self, api: Api) -> None:
        memory_id = remember(api, "Likes tea", [1, 0, 0])
        register(api, "other", 3)
        embed(api, memory_id, [0, 1, 0], model="other")
        assert search(api, None, [1, 0, 0], mode="vector")[0].score == 1
        api.activate_model(name="other")
        assert search(api, None, [1, 0, 0], mode="vector")[0].score == 0

    def test_of_a_user_without_embeddings_finds_nothing_by_meaning(self, api: Api) -> None:
        remember(api, "Likes tea")
        assert found(api, None, [1, 0, 0], mode="vector") == found(api, None, [1, 0, 0]) == []
        assert found(api, "tea", [1, 0, 0]) == ["Likes tea"]

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


def keep_query(api: Api, query: str, vector: list[int]) -> None:
    query_hash = hashlib.sha256(query.encode()).hexdigest()
    insert(
        api, "query_embeddings", "model", user_id="ana", model="three", query_hash=query_hash, embedding=str(vector)
    )  # fmt: skip


# Whoever searches -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_a_transaction_that_may_only_read_can_search(api: Api, mode: str) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    keep_query(api, "tea", [1, 0, 0])
    with api.connection.transaction(force_rollback=True):
        api.connection.execute("set transaction_read_only = on")
        assert found(api, "tea", [1, 0, 0], mode=mode) == found(api, "tea", mode=mode) == ["Likes tea"]
        api.connection.execute("set transaction_read_only = on")  # still is
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            remember(api, "Likes cake")


def test_searching_changes_nothing(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    before = api.state()
    for mode in ("hybrid", "vector", "keyword"):
        found(api, "tea", [1, 0, 0], mode=mode, explain=True)
    assert api.state() == before


@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_right_to_call_it_is_all_that_a_search_needs(api: Api, mode: str) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    api.connection.execute("create role asker")
    api.connection.execute("grant usage on schema memory to asker")
    signature = api.value("select oid::regprocedure::text from pg_proc where oid::regproc = 'memory.search'::regproc")
    api.connection.execute(f"grant execute on function {signature} to asker")
    api.connection.execute("set role asker")
    assert found(api, "tea", [1, 0, 0], mode=mode, explain=True) == ["Likes tea"]
    with pytest.raises(psycopg.errors.InsufficientPrivilege):
        api.query("select from memory.embeddings")


# Trying to break it ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "value"),
    [
        *(("top_k", value) for value in (0, -1, 1001, 2**31 - 1, None)),
        *(("mode", value) for value in ("fuzzy", None)),
        *(("sources", value) for value in ([], ["memories"], None)),
        *(("min_score", value) for value in (1.01, -1.01, "NaN", "-Infinity")),
        *(("min_confidence", value) for value in (1.5, -0.1, "NaN")),
        *(("user_id", value) for value in ("", None, "x" * 256)),
        *((name, "") for name in ("agent_id", "thread_id", "exclude_thread_id")),
        ("memory_types", ["nothing"]),
        ("filter", '["a"]'),
    ],
)
def test_a_wrong_argument_is_refused(api: Api, argument: str, value: Any) -> None:
    with refused(argument):
        search(api, "tea", [1, 0, 0], **{argument: value})


@pytest.mark.parametrize(
    "arguments",
    [
        {"filter": {"a": "'; drop table memory.memories; --"}},
        {"filter": {"\\": "\u2028", "": None, "a": [1, [2, {"b": 3}]]}},
        {"filter": {str(number): number for number in range(100)}},
        {"tags_all": [f"tag {number}" for number in range(100)]},
        {"tags_any": [f"tag {number}" for number in range(100)]},
        {"tags_any": ["", "'", '"', "\\", "{}", "NULL"]},
        {"tags_any": []},
        {"memory_types": []},
        {"doc_types": []},
        {"namespaces": ["'"] * 100},
        {"agent_id": "' or true --"},
        {"thread_id": "%"},
        {"created_after": "infinity"},
        {"created_before": "-infinity"},
        {"as_of": "-infinity"},
        {"min_score": 1, "min_confidence": 1, "tags_all": ["none"]},
    ],
    ids=lambda arguments: str(arguments)[:40],
)
def test_a_filter_that_nothing_passes_finds_nothing(api: Api, arguments: dict[str, Any]) -> None:
    remember(api, "Likes tea", [1, 0, 0], tags=["a"], metadata={"a": 1})
    say(api, "I drink tea", [1, 0, 0])
    for mode in ("hybrid", "vector", "keyword"):
        assert search(api, "tea", [1, 0, 0], mode=mode, sources=SOURCES, **arguments) == []


def test_filters_that_everything_passes_take_nothing_away(api: Api) -> None:
    remember(api, "Likes tea", [1, 0, 0])
    passing = {
        "exclude_tags": [f"tag {n}" for n in range(100)],
        "created_after": "-infinity",
        "created_before": "infinity",
        "as_of": "infinity",
    }
    for name, value in passing.items():
        assert found(api, "tea", [1, 0, 0], **{name: value}) == ["Likes tea"], name


@pytest.mark.feature("E4")
@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_what_was_stored_just_now_is_judged_by_its_words(api: Api, fusion: str) -> None:
    api.set_policy(settings={"search": {"fusion": fusion}})
    for number in range(20):
        remember(api, f"Takes the train at {number}", [1, number, 1])
    remember(api, "Owns a theorbo")
    assert found(api, "where is the theorbo at night", [1, 0, 1])[0] == "Owns a theorbo"


# What it costs --------------------------------------------------------------------------------------------------------


@pytest.fixture
def fresh(db: psycopg.Connection) -> Api:
    """A database of the test's own, whose tables have no statistics."""
    return with_model(Api(db))


@pytest.mark.feature("E4")
@pytest.mark.parametrize("rows", [1, 2000])
@pytest.mark.parametrize("analyzed", [False, True])
@pytest.mark.parametrize("mode", ["hybrid", "vector", "keyword"])
def test_the_work_grows_with_the_rows_of_the_user_alone(fresh: Api, rows: int, analyzed: bool, mode: str) -> None:
    """Whatever the planner knows or believes, no step may compare each row with each, or read what others have."""
    fill(fresh, "ana", rows)
    fill(fresh, "bob", 3000)
    if analyzed:
        fresh.connection.execute("analyze")
    steps = plan_of_ranking(fresh, mode=mode, sources=SOURCES)
    assert max(step["seen"] for step in steps) <= 2 * (2 * rows) + 100
    assert not [step for step in steps if step["Node Type"] == "Merge Join"]
    assert sum(step["seen"] for step in reads(steps, "embeddings")) == (0 if mode == "keyword" else 2 * rows)


def test_a_fresh_table_is_read_once_for_each_thing_to_know(fresh: Api) -> None:
    """Entries of a table and of its index: the embedding, and the row for each arm and for the count."""
    fill(fresh, "ana", 1000)
    for mode in ("hybrid", "vector", "keyword"):
        ask = functools.partial(search, fresh, "tea", [1, 0, 0], mode=mode, sources=SOURCES)
        assert fresh.entries_read(ask) < 10 * 2000


def test_other_users_do_not_make_a_search_dearer(fresh: Api) -> None:
    fill(fresh, "ana", 100)
    ask = functools.partial(search, fresh, "green tea", [1, 0, 0], sources=SOURCES)
    ask()
    before, answer = fresh.entries_read(ask), ask()
    for number in range(10):
        fill(fresh, f"user {number}", 200)
    assert fresh.entries_read(ask) <= before + 20
    assert ask() == answer


def test_other_users_do_not_make_a_context_dearer(fresh: Api) -> None:
    """Nor a block of memories; whatever the planner believes of the table."""
    remember(fresh, "Likes green tea", [1, 0, 0])
    target = "[1,0,0]"
    asks = [
        functools.partial(fresh.render_memories, user_id="ana", query="green tea", query_embedding=target),
        functools.partial(fresh.get_context, user_id="ana", thread_id="t1", query="green tea", query_embedding=target),
    ]
    for ask in asks:
        ask()
    before = [fresh.entries_read(ask) for ask in asks]
    fill(fresh, "bob", 10_000)
    fresh.connection.execute("analyze")
    fresh.connection.execute("discard plans")
    for ask, entries in zip(asks, before, strict=True):
        assert fresh.entries_read(ask) <= entries + 20


def test_ten_thousand_messages_are_searched(fresh: Api) -> None:
    fill(fresh, "ana", 10_000)
    while fresh.sweep()["checked"]:
        pass
    fresh.query(
        "update memory.messages set content = 'The theorbo is here' where user_id = 'ana' and seq = 5000 returning 1"
    )
    embed(fresh, "t1/5000", [0, 1, 0], source="message")
    arguments: dict[str, Any] = {"sources": ["message"], "top_k": 1000}
    for mode in ("hybrid", "keyword"):
        results = search(fresh, "where is the theorbo", [0, 1, 0], mode=mode, **arguments)
        assert (results[0].id, results[0].content) == ("t1/5000", "The theorbo is here")
    everything = search(fresh, " ".join(["green tea", *map(str, range(300))]), [0, 1, 0], explain=True, **arguments)
    assert len(everything) == 1000
    explained = [result.details["keyword"]["terms"].keys() for result in everything if result.id != "t1/5000"]
    assert all(words >= {"green", "tea"} for words in explained)


def test_explaining_a_thousand_results_does_not_read_all_matches_for_each(fresh: Api) -> None:
    fill(fresh, "ana", 1500)
    steps = plan_of_ranking(fresh, sources=SOURCES, explain=True, top_k=1000)
    assert max(step["seen"] for step in steps) <= 3 * (2 * 1500)
