"""Backfills: a second model embeds everything in the background while the first serves."""

from __future__ import annotations

import pytest

from tests.embeddings.model_switch.steps import embed, found, keep_query, know, register, status
from tests.support.protocol import lease, make_due, open_jobs, say
from tests.support.sqlapi import Api


@pytest.mark.feature("F4")
def test_a_second_model_is_filled_in_the_background_while_the_first_serves(api: Api) -> None:
    know(api, 1, 2)
    know(api, 3, user_id="bob")
    say(api, "message 4")
    api.add_document(user_id="ana", content="document 5")
    embed(api)
    register(api)
    assert open_jobs(api) == ["backfill", "backfill"]
    assert status(api) == {"new": (0, 5), "old": (5, 5)}
    assert [row.is_active for row in api.backfill_status()] == [False, True]
    for topic in (1, 3):
        keep_query(api, "old", topic)
        keep_query(api, "new", topic)
    assert found(api)[0] == {"old"}
    assert [result["model"] for result in embed(api)] == ["new", "new"]
    assert status(api) == {"new": (5, 5), "old": (5, 5)}
    assert found(api)[0] == {"old"}
    api.activate_model(name="new")
    assert found(api)[0] == {"new"}
    assert found(api)[1][0] == "topic 1"
    assert embed(api) == []


@pytest.mark.feature("F4", "A14")
def test_a_broken_second_model_delays_nothing_of_the_first(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    for topic in range(2, 10):
        know(api, topic)
        assert [result["model"] for result in embed(api, "embed")] == ["old"]
        for job in api.claim_jobs(worker="test", kinds=["backfill"]):
            assert job.payload["model"]["name"] == "new"
            api.fail_job(**lease(job), error="no such model")
        assert status(api) == {"new": (0, topic), "old": (topic, topic)}
        make_due(api)
    keep_query(api, "old", 1)
    assert found(api)[0] == {"old"}
    assert found(api)[1][0] == "topic 1"
