"""Search by words and meaning: how both rankings become one."""

from __future__ import annotations

import math
from typing import Any

import pytest

from tests.search.vector.steps import found, remember, say, search
from tests.support.search_world import SOURCES, embed, insert
from tests.support.sqlapi import Api


@pytest.mark.feature("E4", "B12")
class TestHybrid:
    def test_a_text_that_is_not_embedded_is_found_by_its_words(self, api: Api) -> None:
        remember(api, "Likes tea")
        remember(api, "Owns a boat", [1, 0, 0])
        assert found(api, "tea", [1, 0, 0]) == ["Likes tea", "Owns a boat"]
        assert found(api, "tea", [1, 0, 0], mode="vector") == ["Owns a boat"]
        assert found(api, "tea", [1, 0, 0], mode="keyword") == ["Likes tea"]
        assert api.notices == []

    @pytest.mark.parametrize("query", ["beverage", "the of and", "👩🏽‍🚀"])
    def test_a_text_that_shares_no_word_is_found_by_its_meaning(self, api: Api, query: str) -> None:
        remember(api, "Likes tea", [2, 1, 0])
        remember(api, "Owns a boat", [0, 1, 2])
        assert found(api, query, [3, 1, 0]) == ["Likes tea", "Owns a boat"]

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
            parts = {name: r.details["features"] for name, r in results.items()}
            assert parts["Owns a boat"].keys() == {"intercept", "meaning", "length", "memory"}
            assert parts["Likes green tea"]["words"]["value"] == 1
            for result in results.values():
                odds = sum(feature["part"] for feature in result.details["features"].values())
                assert result.score == pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-6)

    def test_policy_decides_how_the_arms_are_fused(self, api: Api) -> None:
        """By score it counts how near a text is; by rank only before how many others it stands."""
        for content, vector in (("tea", [0, 0, 1]), ("lamp", [9, 9, 1]), ("boat", [1, 0, 0])):
            remember(api, content, vector)
        assert found(api, "tea", [1, 0, 0])[0] == "boat"
        api.set_policy(settings={"search": {"fusion": "rrf"}}, user_id="ana")
        by_rank = search(api, "tea", [1, 0, 0])
        assert by_rank[0].content == "tea"
        assert by_rank[0].score == pytest.approx((1 / 61 + 1 / 63) * 61 / 2)

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
        assert results[1].details["features"]["neighbour"]["part"] > 0
        assert "neighbour" not in results[2].details["features"]
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
                content=content, token_count=3,
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
    """Embeddings of hidden rows may exist; no search may find the rows by them."""
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
