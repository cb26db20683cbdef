"""Artifacts under many clients at once: equal keys, lives, embeddings that are being stored, and sweeps."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.artifacts.steps import embed, embedded, found, parse, read, store
from tests.support.protocol import activate, claim, complete
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api, refused


@pytest.mark.feature("C3", "E14")
@pytest.mark.parametrize("case", ["the same", "another", "the first expired"])
def test_the_second_writer_of_a_key_waits_for_the_first(sessions: Sessions, case: str) -> None:
    first = sessions.api
    with first.connection.transaction():
        stored = store(first, "tea", key="log", expires_at="2020-01-01" if case == "the first expired" else None)
        waiting = sessions.submit(lambda api: store(api, "tea" if case == "the same" else "boat", key="log"))
        assert not waiting.done()
    if case == "another":
        with refused("key", "23505"):
            waiting.result(PATIENCE)
    else:
        assert (waiting.result(PATIENCE) == stored) is (case == "the same")
    assert read(first, "log") == ("boat" if case == "the first expired" else "tea")


@pytest.mark.feature("C3", "E14")
def test_two_writers_that_set_an_expiry_at_once_leave_the_later_one(
    sessions: Sessions,
) -> None:
    one = sessions.api
    store(one, key="log", expires_at="2997-01-01")
    with one.connection.transaction():
        store(one, key="log", expires_at="2999-01-01")
        waiting = sessions.submit(lambda api: store(api, key="log", expires_at="2998-01-01"))
        assert not waiting.done()
    waiting.result(PATIENCE)
    assert one.list_artifacts(user_id="ana")[0].expires_at.year == 2999


@pytest.mark.feature("C3", "E14")
def test_an_artifact_deleted_at_the_same_time_is_stored_again(sessions: Sessions) -> None:
    one = sessions.api
    store(one, "tea", key="log", description="First")
    with one.connection.transaction():
        assert one.delete_artifact(user_id="ana", key="log")
        waiting = sessions.submit(lambda api: store(api, "tea", key="log", description="Second"))
        assert not waiting.done()
    waiting.result(PATIENCE)
    [row] = one.list_artifacts(user_id="ana")
    assert (row.description, read(one, "log")) == ("Second", "tea")


@pytest.mark.feature("C6", "E14")
def test_a_change_waits_for_the_embedding_that_is_being_stored(sessions: Sessions) -> None:
    worker = sessions.api
    activate(worker, "ada", "embedding")
    store(worker, "tea", key="log")
    parse(worker)
    job = claim(worker, "embed")
    statement = "update memory.artifacts set content = 'boat'"
    with worker.connection.transaction():
        complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])
        changing = sessions.submit(lambda api: api.connection.execute(statement))
        assert not changing.done()
    changing.result(PATIENCE)
    assert embedded(worker) == []
    assert embed(worker) == ["tea\nboat"]


@pytest.mark.feature("C6", "E14")
def test_the_embedding_of_a_text_that_is_being_changed_is_dropped(connect: Callable[..., psycopg.Connection]) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    store(worker, "tea", key="log")
    parse(worker)
    job = claim(worker, "embed")
    with client.connection.transaction():
        client.connection.execute("update memory.artifacts set content = 'boat'")
        with pytest.raises(psycopg.errors.LockNotAvailable):  # not waited for: the client may wait for the job
            complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])
    assert complete(worker, job, embeddings=[[0.0, 1.0, 0.0]])["embedded"] == 0
    assert embed(worker) == ["tea\nboat"]


@pytest.mark.feature("C6", "E14")
def test_a_sweep_passes_over_what_is_in_use(connect: Callable[..., psycopg.Connection]) -> None:
    user, sweeper = Api(connect()), Api(connect(options="-c lock_timeout=5s"))
    store(user, key="used", expires_at="2020-01-01")
    store(user, key="free", expires_at="2020-01-01")
    with user.connection.transaction():
        user.query("select from memory.artifacts where key = 'used' for share")
        assert sweeper.sweep()["artifacts"] == 1
    assert sweeper.sweep()["artifacts"] == 1


@pytest.mark.feature("C6", "E14")
def test_a_job_passes_over_words_that_are_being_changed(connect: Callable[..., psycopg.Connection]) -> None:
    worker, client = Api(connect(options="-c lock_timeout=5s")), Api(connect())
    for key in ("changed", "free"):
        store(worker, "tea", key=key, description="Harbour")
    job = claim(worker, "parse_artifacts")
    with client.connection.transaction():
        client.connection.execute("update memory.artifacts set description = 'Island' where key = 'changed'")
        assert complete(worker, job, max_bytes=1000)["parsed"] == 1
    complete(worker, claim(worker, "parse_artifacts"), max_bytes=1000)
    assert (found(worker, "harbour"), found(worker, "island")) == (["free"], ["changed"])
