"""Search by meaning and by both finds exactly what comparing everything finds."""

from __future__ import annotations

import pytest

from tests.search.vector.steps import search
from tests.support.search_reference import expect, random_filters, single
from tests.support.search_world import DIMENSIONS, SOURCES, USERS, WORDS, World
from tests.support.sqlapi import Api, rolled_back


@pytest.mark.feature("E4", "E3", "F1")
@pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.nightly) for seed in range(1, 8))])
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
            beside_messages = "message" in filters["sources"]
            visible = world.visible(user_id, filters)
            expected = expect(visible, words, target, fusion, min_score, top_k, beside_messages=beside_messages)
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
