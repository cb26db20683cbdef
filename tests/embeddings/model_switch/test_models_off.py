"""Models that are switched off: they are asked for nothing and keep their embeddings."""

from __future__ import annotations

import pytest

from tests.embeddings.model_switch.steps import FILLED, embed, found, keep_query, know, register, status, vector
from tests.support.protocol import ANA, claim, make_due, open_jobs, say
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("F20")
def test_a_model_that_is_off_is_asked_for_nothing_and_keeps_its_embeddings(api: Api) -> None:
    know(api, 1)
    embed(api)
    keep_query(api, "old", 1)
    waiting = know(api, 2)
    api.deactivate_model(name="old")
    api.deactivate_model(name="old")
    # Nothing is queued, whatever happens, and what was queued has nothing to do.
    know(api, 3)
    say(api, "message 4")
    api.delete_memory(user_id="ana", memory_id=waiting[0])
    api.sweep()
    make_due(api)
    assert embed(api) == []
    assert open_jobs(api) == []
    assert api.query(FILLED) == [("old", 1)]
    # Searches go by keyword, also those with an embedding of their own.
    for arguments in ({}, {"query_embedding": str(vector("old", 1))}):
        api.notices.clear()
        rows = api.search(user_id="ana", query="topic 1", explain=True, **arguments)
        assert rows[0].content == "topic 1"
        assert not any("vector" in row.details for row in rows)
        assert api.notices == ["degraded: searching by keyword only, no embedding model is active"]
        with refused("mode"):
            api.search(user_id="ana", query="topic 1", mode="vector", **arguments)
    # On again, only what came since is missing.
    api.activate_model(name="old")
    assert [len(api.query("select 1 from memory.jobs where kind = 'backfill' and status = 'pending'"))] == [1]
    assert sum(result["embedded"] for result in embed(api)) == 2
    assert found(api)[0] == {"old"}


@pytest.mark.feature("F20")
def test_another_model_goes_on_while_one_is_off(api: Api) -> None:
    know(api, 1)
    embed(api)
    register(api)
    api.deactivate_model(name="new")  # before it was ever active
    assert embed(api) == []
    know(api, 2)
    embed(api)
    assert status(api) == {"new": (0, 2), "old": (2, 2)}
    api.activate_model(name="new")
    api.deactivate_model(name="old")
    # The one that is off does not serve while the other one is being filled.
    keep_query(api, "old", 1)
    assert api.search(user_id="ana", query="topic 1", explain=True)[0].details.keys() & {"vector"} == set()
    know(api, 3)
    embed(api)
    assert status(api) == {"new": (3, 3), "old": (2, 3)}
    api.drop_model(name="old")
    assert api.query(FILLED) == [("new", 3)]
    register(api)
    api.deactivate_model(name="new")
    api.drop_model(name="new")
    assert api.query(FILLED) == []


@pytest.mark.feature("F20")
def test_without_a_chat_model_jobs_wait(api: Api) -> None:
    say(api, "I like tea")
    job_id = api.extract_memories(**ANA)
    api.deactivate_model(name="local")
    assert api.claim_jobs(worker="test", kinds=["extract_memories"]) == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.attempts, job.error) == ("pending", 0, "no chat model is active")
    api.set_policy(settings={"summary": {"model": "local"}})
    summary = api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="test", kinds=["summarize_thread", "compress_thread"]) == []
    assert api.get_job(user_id="ana", job_id=summary).status == "pending"
    api.activate_model(name="local")
    make_due(api)
    assert claim(api, "extract_memories").payload["model"]["name"] == "local"
