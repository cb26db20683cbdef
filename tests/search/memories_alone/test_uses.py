"""Uses of memories move them a little in rankings, if the policy says so."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any
from uuid import UUID

import pytest

from tests.search.memories_alone.steps import found, remember, search
from tests.support.sqlapi import Api

GREEN, BLACK, MINT = "Likes green tea", "Likes black tea", "Likes tea with mint and honey"
CONTENTS = [GREEN, BLACK, MINT]
NEAR: dict[str, list[int]] = {GREEN: [10, 1, 0], BLACK: [10, 1, 0], MINT: [5, 10, 0]}
QUERY, VECTOR = "tea", [10, 0, 0]


@pytest.fixture
def teas(api: Api) -> dict[str, UUID]:
    """The first two are equally good, and the newer of them comes first."""
    return {content: remember(api, content, NEAR[content]) for content in CONTENTS}


def record(api: Api, memory_ids: Sequence[UUID], outcome: str = "used", times: int = 1) -> None:
    for _ in range(times):
        api.record_use(user_id="ana", memory_ids=list(memory_ids), outcome=outcome)


def weigh(api: Api, weight: float) -> None:
    api.set_policy(settings={"search": {"use_weight": weight}})


def scores(api: Api, **arguments: Any) -> dict[str, float]:
    return {result.content: result.score for result in search(api, QUERY, VECTOR, **arguments)}


def test_uses_change_nothing_unless_the_policy_says_so(api: Api, teas: dict[str, UUID]) -> None:
    def rankings() -> list[Any]:
        return [
            search(api, QUERY, VECTOR, mode=mode, sources=sources, explain=explain)
            for mode in ("hybrid", "keyword", "vector")
            for sources in (["memory"], ["memory", "message"])
            for explain in (False, True)
        ]

    before, block = rankings(), api.render_memories(user_id="ana", query=QUERY)
    record(api, [teas[MINT]], "helpful", times=20)
    record(api, [teas[GREEN]], "wrong", times=20)
    assert rankings() == before
    assert api.render_memories(user_id="ana", query=QUERY) == block


@pytest.mark.parametrize("mode", ["hybrid", "keyword"])
@pytest.mark.parametrize("fusion", ["score", "rrf"])
def test_with_a_weight_uses_decide_between_equals(api: Api, teas: dict[str, UUID], mode: str, fusion: str) -> None:
    api.set_policy(settings={"search": {"fusion": fusion}})
    weigh(api, 0.1)
    assert found(api, QUERY, VECTOR, mode=mode, top_k=2) == [BLACK, GREEN]
    record(api, [teas[GREEN]])
    assert found(api, QUERY, VECTOR, mode=mode, top_k=2) == [GREEN, BLACK]
    record(api, [teas[BLACK]], "helpful")
    assert found(api, QUERY, VECTOR, mode=mode, top_k=2) == [BLACK, GREEN]
    record(api, [teas[BLACK]], "wrong", times=2)
    assert found(api, QUERY, VECTOR, mode=mode, top_k=2) == [GREEN, BLACK]


def test_a_memory_without_uses_loses_to_no_memory_that_is_worse_by_the_weight(api: Api, teas: dict[str, UUID]) -> None:
    plain = scores(api)
    apart = plain[BLACK] - plain[MINT]
    assert apart > 0.1
    record(api, [teas[MINT]], "helpful", times=200)
    weigh(api, round(apart, 3) - 0.001)
    assert found(api, QUERY, VECTOR)[-1] == MINT
    weigh(api, min(apart + 0.1, 1))
    assert found(api, QUERY, VECTOR)[0] == MINT
    assert scores(api)[BLACK] == plain[BLACK], "what nobody has used keeps its score"


def test_scores_stay_between_0_and_1_and_a_limit_holds_for_what_is_returned(api: Api, teas: dict[str, UUID]) -> None:
    weigh(api, 1)
    record(api, [teas[GREEN]], "helpful", times=50)
    record(api, [teas[MINT]], "wrong", times=50)
    weighed = scores(api)
    assert weighed[GREEN] == 1
    assert weighed[MINT] == 0
    assert set(scores(api, min_score=0.01)) == {GREEN, BLACK}


@pytest.mark.feature("F11")
def test_the_explanation_shows_the_uses(api: Api, teas: dict[str, UUID]) -> None:
    weigh(api, 0.1)
    record(api, [teas[GREEN]], "helpful", times=2)
    record(api, [teas[GREEN]])
    shown = {result.content: result.details.get("use") for result in search(api, QUERY, VECTOR, explain=True)}
    assert shown == {GREEN: {"used": 1, "helpful": 2, "wrong": 0}, BLACK: None, MINT: None}


def test_a_score_that_is_a_cosine_stays_one(api: Api, teas: dict[str, UUID]) -> None:
    weigh(api, 1)
    record(api, [teas[MINT]], "helpful", times=50)
    [mint] = [each.score for each in search(api, None, VECTOR) if each.content == MINT]
    assert mint == pytest.approx(5 / math.hypot(5, 10), abs=1e-3)


def test_uses_fade(api: Api, teas: dict[str, UUID]) -> None:
    weigh(api, 0.1)
    plain = scores(api)[MINT]
    record(api, [teas[MINT]], "helpful", times=4)
    assert scores(api)[MINT] == pytest.approx(plain + 0.1 * 0.5, abs=1e-6)
    api.connection.execute("update memory.memory_uses set updated_at = now() - interval '30 days'")
    assert scores(api)[MINT] == pytest.approx(plain + 0.1 * 2 / 6, abs=1e-6)
    api.connection.execute("update memory.memory_uses set updated_at = now() - interval '3 years'")
    assert scores(api)[MINT] == pytest.approx(plain, abs=1e-6)


def test_a_context_ranks_by_them_too(api: Api, teas: dict[str, UUID]) -> None:
    api.set_policy(settings={"context": {"max_memories": 1}})
    record(api, [teas[GREEN]], "helpful", times=4)
    query = {"user_id": "ana", "query": QUERY, "query_embedding": str(VECTOR)}
    assert BLACK in api.render_memories(**query)
    weigh(api, 0.5)
    assert GREEN in api.render_memories(**query)


def test_beside_messages_only_memories_move(api: Api, teas: dict[str, UUID]) -> None:
    api.add_message(user_id="ana", thread_id="t", role="user", content="Some tea, please")
    sources = {"sources": ["memory", "message"]}
    plain = scores(api, **sources)
    weigh(api, 0.2)
    record(api, [teas[GREEN]], "wrong", times=4)
    weighed = scores(api, **sources)
    assert weighed == {**plain, GREEN: pytest.approx(plain[GREEN] - 0.1, abs=1e-6)}
