"""Deleting artifacts: with their thread, one by one, and when they have expired."""

from __future__ import annotations

import pytest

from tests.artifacts.steps import embed, embedded, found, listed, read, store
from tests.support.protocol import activate
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("C3")
def test_deleting_a_thread_deletes_its_artifacts(api: Api) -> None:
    activate(api, "ada", "embedding")
    api.talk("ana", "t1", 1)
    for key, thread_id in (("gone", "t1"), ("kept", "t2"), ("free", None)):
        store(api, f"tea {key}", key=key, thread_id=thread_id)
    store(api, "tea", key="theirs", thread_id="t1", user_id="bob")
    embed(api)
    api.clear_thread(user_id="ana", thread_id="t1")
    assert "gone" in listed(api)
    assert api.delete_thread(user_id="ana", thread_id="t1") == 2
    assert sorted(listed(api)) == sorted(found(api, "tea")) == ["free", "kept"]
    assert (listed(api, user_id="bob"), embedded(api)) == (["theirs"], ["free", "kept", "theirs"])
    assert api.value("select count(*) from memory.artifact_parts") == 3


@pytest.mark.feature("C3", "C9")
def test_an_artifact_is_deleted_with_its_embedding_by_its_user_alone(api: Api) -> None:
    activate(api, "ada", "embedding")
    store(api, "tea", key="log")
    store(api, "tea", key="kept")
    embed(api)
    before = api.state()
    assert api.delete_artifact(user_id="bob", key="log") is False
    assert api.delete_artifact(user_id="ana", key="gol") is False
    assert api.state() == before
    assert [api.delete_artifact(user_id="ana", key="log") for _ in range(2)] == [True, False]
    assert listed(api) == found(api, "tea") == embedded(api) == ["kept"]
    with refused("key", "P0002"):
        read(api, "log")
    store(api, "boat", key="log")
    assert read(api, "log") == "boat"


@pytest.mark.feature("C3", "B6")
def test_expired_artifacts_are_swept_with_their_embeddings(api: Api) -> None:
    activate(api, "ada", "embedding")
    for number in range(5):
        store(api, f"tea {number}", key=f"k{number}")
    embed(api)
    api.query("update memory.artifacts set expires_at = now() - interval '1 second' where key < 'k3' returning 1")
    assert [api.sweep(batch_size=2)["artifacts"] for _ in range(3)] == [2, 1, 0]
    assert embedded(api) == [key for [key] in api.query("select key from memory.artifacts")] == ["k3", "k4"]
    assert api.value("select count(*) from memory.artifact_parts") == 2
