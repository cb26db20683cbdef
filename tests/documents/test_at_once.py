"""Documents under many clients at once, and workers that die."""

from __future__ import annotations

from collections.abc import Callable

import psycopg
import pytest

from tests.documents.steps import LONG, chunks, cut, embed, embedded, hand_in, store
from tests.support.protocol import activate, claim
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api


@pytest.mark.feature("A13", "E14")
def test_a_change_waits_for_the_pieces_that_are_being_stored(sessions: Sessions) -> None:
    worker = sessions.api
    activate(worker, "ada", "embedding")
    document_id = store(worker)
    with worker.connection.transaction():
        cut(worker)
        changing = sessions.submit(
            lambda api: api.connection.execute("update memory.documents set content = content || ' The end.'")
        )
        assert not changing.done()
    changing.result(PATIENCE)
    assert [tokens for _, _, tokens in chunks(worker)] == [None]
    cut(worker)
    assert len(embed(worker)) == 2
    assert embedded(worker) == [f"{document_id}/0", f"{document_id}/1"]


@pytest.mark.feature("A13", "E14")
def test_the_pieces_of_a_text_that_is_being_changed_are_dropped(connect: Callable[..., psycopg.Connection]) -> None:
    worker, client = Api(connect()), Api(connect())
    store(worker)
    job = claim(worker, "chunk_documents")
    with client.connection.transaction():
        client.connection.execute("update memory.documents set content = content || ' The end.'")
        with pytest.raises(psycopg.errors.LockNotAvailable):  # not waited for: the client may wait for the job
            hand_in(worker, job)
    assert hand_in(worker, job) == {"documents": 0, "chunks": 0}
    cut(worker)
    assert "".join(content for _, content, _ in chunks(worker)) == f"{LONG} The end."


@pytest.mark.feature("A13", "A14")
def test_a_document_stored_while_the_last_job_ends_is_found_by_the_sweep(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, client = Api(connect()), Api(connect())
    store(worker)
    job = claim(worker, "chunk_documents")
    with client.connection.transaction():
        store(client)  # a job is running, so none is queued
        hand_in(worker, job)  # and that one cannot see the document yet
    worker.sweep()
    cut(worker)
    assert [tokens for _, _, tokens in chunks(worker)] == [300] * 4
