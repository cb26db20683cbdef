"""Switching, dropping and registering models: two models are never compared."""

from __future__ import annotations

import pytest

from tests.embeddings.model_switch.steps import (
    FILLED,
    embed,
    found,
    hand_in,
    keep_query,
    know,
    register,
    status,
    vector,
)
from tests.support.protocol import ANA, claim, say
from tests.support.sqlapi import Api, refused

# Switching ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4")
def test_a_user_whose_new_embeddings_are_incomplete_is_served_by_the_model_before(api: Api) -> None:
    for user_id in ("ana", "bob"):
        know(api, 1, 2, 3, user_id=user_id)
    embed(api)
    register(api)
    api.activate_model(name="new")
    hand_in(api, api.claim_jobs(worker="test", kinds=["backfill"])[0])
    complete_user = api.value("select distinct user_id from memory.texts where model is not null and model = 'new'")
    for user_id in ("ana", "bob"):
        for model in ("old", "new"):
            keep_query(api, model, 1, user_id)
        models, contents = found(api, user_id=user_id)
        assert models == {"new" if user_id == complete_user else "old"}
        assert (contents[0], len(contents)) == ("topic 1", 3)
    embed(api)
    assert {model for user_id in ("ana", "bob") for model in found(api, user_id=user_id)[0]} == {"new"}


@pytest.mark.feature("F4")
def test_texts_that_nobody_can_find_do_not_keep_the_old_model_in_use(api: Api) -> None:
    first, superseded, expired = know(api, 1, 2, 3)
    say(api, "message 4", "message 5")
    say(api, "message 6", user_id="bob")
    embed(api)
    api.supersede_memory(user_id="ana", old_memory_id=superseded, new_memory_id=first, reason="newer")
    api.update_memory(user_id="ana", memory_id=expired, expires_at="2020-01-01")
    api.connection.execute("update memory.messages set expires_at = '2020-01-01' where seq = 0 and user_id = 'ana'")
    api.set_policy(settings={"search": {"embed_messages": False}}, user_id="bob")
    register(api)
    embed(api)
    api.activate_model(name="new")
    embed(api)
    keep_query(api, "new", 1)
    keep_query(api, "old", 1)
    assert found(api)[0] == {"new"}


@pytest.mark.feature("F4")
def test_a_query_is_compared_with_the_model_of_its_dimension(api: Api) -> None:
    know(api, 1, 2)
    register(api)
    embed(api)
    for model in ("old", "new"):
        models, contents = found(api, query_embedding=str(vector(model, 1)))
        assert (models, contents[0]) == ({model}, "topic 1")
    with refused("query_embedding"):
        found(api, query_embedding="[1,0,0,0,0]")


# Changes of a model ---------------------------------------------------------------------------------------------------


@pytest.mark.feature("F4")
def test_a_model_is_dropped_with_everything_it_embedded(api: Api) -> None:
    know(api, 1)
    register(api)
    embed(api)
    keep_query(api, "old", 1)
    keep_query(api, "new", 1)
    with refused("name", "23505"):
        api.drop_model(name="old")
    with refused("name", "P0002"):
        api.drop_model(name="none")
    api.drop_model(name="new")
    assert api.query(FILLED) == [("old", 1)]
    assert api.query("select distinct model from memory.query_embeddings") == [("old",)]
    assert list(status(api)) == ["old"]
    assert found(api)[0] == {"old"}
    register(api)
    assert status(api)["new"] == (0, 1)


@pytest.mark.feature("F4")
def test_a_changed_or_deleted_text_loses_the_embeddings_of_all_models(api: Api) -> None:
    [memory_id] = know(api, 1)
    say(api, "message 2")
    document_id = api.add_document(user_id="ana", content="document 3")
    register(api)
    embed(api)
    assert api.query(FILLED) == [("new", 3), ("old", 3)]
    api.update_memory(user_id="ana", memory_id=memory_id, content="topic 4")
    assert api.query(FILLED) == [("new", 2), ("old", 2)]
    api.delete_thread(**ANA)
    assert api.query(FILLED) == [("new", 1), ("old", 1)]
    api.delete_document(user_id="ana", document_id=document_id)
    assert api.query(FILLED) == []


@pytest.mark.feature("F4")
def test_registering_again_changes_nothing_that_is_embedded(api: Api) -> None:
    know(api, 1)
    register(api)
    embed(api)
    register(api, timeout_seconds=9)
    assert embed(api) == []
    assert api.query(FILLED) == [("new", 1), ("old", 1)]
    with refused("name", "23505"):
        api.register_model(name="new", kind="embedding", provider="openai", model="new-2")


@pytest.mark.feature("F4")
def test_results_of_the_former_model_are_not_stored_under_its_name(api: Api) -> None:
    know(api, 1)
    job = claim(api, "embed")
    api.register_model(name="old", kind="embedding", provider="openai", model="old-2")
    assert "skipped" in hand_in(api, job)
    assert api.query(FILLED) == []
    assert claim(api, "embed").payload["model"]["model"] == "old-2"
