"""Memories that were wrong fall in rankings, if the policy says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from tests.search.memories_alone.steps import found, remember, search
from tests.support.search_reference import WEIGHTS
from tests.support.sqlapi import Api

GREEN, BLACK, MINT = "Likes green tea", "Likes black tea", "Likes tea with mint and honey"
CONTENTS = [GREEN, BLACK, MINT]
NEAR: dict[str, list[int]] = {GREEN: [10, 1, 0], BLACK: [10, 1, 0], MINT: [5, 10, 0]}
QUERY, VECTOR = "tea", [10, 0, 0]


@pytest.fixture
def teas(api: Api) -> dict[str, UUID]:
    """The first two are equally good, and the newer of them comes first."""
    return {content: remember(api, content, NEAR[content]) for content in CONTENTS}


def record(api: Api, memory_ids: Sequence[UUID], outcome: str, times: int = 1) -> None:
    for _ in range(times):
        api.record_use(user_id="ana", memory_ids=list(memory_ids), outcome=outcome)


def weigh(api: Api, weight: float) -> None:
    api.set_policy(settings={"search": {"use_weight": weight}})


def scores(api: Api, **arguments: Any) -> dict[str, float]:
    return {result.content: result.score for result in search(api, QUERY, VECTOR, **arguments)}


def rankings(api: Api) -> list[Any]:
    return [
        search(api, QUERY, VECTOR, mode=mode, sources=sources, explain=explain)
        for mode in ("hybrid", "keyword", "vector")
        for sources in (["memory"], ["memory", "message"])
        for explain in (False, True)
    ]


def test_uses_change_nothing_unless_the_policy_says_so(api: Api, teas: dict[str, UUID]) -> None:
    before, block = rankings(api), api.render_memories(user_id="ana", query=QUERY)
    record(api, [teas[MINT]], "helpful", times=20)
    record(api, [teas[BLACK]], "wrong", times=20)
    assert rankings(api) == before
    assert api.render_memories(user_id="ana", query=QUERY) == block


def fallen(score: float, weight: float, share: float) -> Any:
    """The score of a memory of which this share of what was recorded is that it was wrong."""
    odds = math.log(score / (1 - score)) + WEIGHTS["use"] * weight * share
    return pytest.approx(1 / (1 + math.exp(-odds)), abs=1e-5)


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
def test_what_was_wrong_falls_and_what_helped_again_falls_less(api: Api, teas: dict[str, UUID], mode: str) -> None:
    weigh(api, 0.4)
    plain = scores(api, mode=mode, sources=["memory"])
    assert plain[BLACK] == plain[GREEN]
    record(api, [teas[BLACK]], "wrong")
    assert found(api, QUERY, VECTOR, mode=mode).index(GREEN) < found(api, QUERY, VECTOR, mode=mode).index(BLACK)
    assert scores(api, mode=mode) == {**plain, BLACK: fallen(plain[BLACK], 0.4, 1 / 2)}
    record(api, [teas[BLACK]], "helpful", times=2)
    assert scores(api, mode=mode) == {**plain, BLACK: fallen(plain[BLACK], 0.4, 1 / 4)}
    record(api, [teas[GREEN]], "wrong", times=3)
    assert scores(api, mode=mode)[GREEN] == fallen(plain[GREEN], 0.4, 3 / 4)


@pytest.mark.feature("F11")
def test_the_explanation_shows_by_how_much(api: Api, teas: dict[str, UUID]) -> None:
    weigh(api, 0.1)
    record(api, [teas[GREEN]], "wrong")
    results = search(api, QUERY, VECTOR, explain=True)
    shown = {result.content: result.details["features"].get("use", {}).get("value") for result in results}
    assert shown == {GREEN: pytest.approx(0.05), BLACK: None, MINT: None}


def test_nothing_rises_by_uses_and_cosines_stay_what_they_are(api: Api, teas: dict[str, UUID]) -> None:
    before, cosines = rankings(api), search(api, None, VECTOR, mode="vector")
    weigh(api, 1)
    record(api, [teas[GREEN], teas[MINT]], "used", times=20)
    record(api, [teas[GREEN]], "helpful", times=20)
    assert rankings(api) == before
    record(api, [teas[MINT]], "wrong", times=50)
    assert search(api, None, VECTOR, mode="vector") == cosines


def test_a_context_ranks_by_it_too(api: Api, teas: dict[str, UUID]) -> None:
    api.set_policy(settings={"context": {"max_memories": 1}})
    record(api, [teas[BLACK]], "wrong")
    query = {"user_id": "ana", "query": QUERY, "query_embedding": str(VECTOR)}
    assert BLACK in api.render_memories(**query)
    weigh(api, 0.2)
    assert GREEN in api.render_memories(**query)
