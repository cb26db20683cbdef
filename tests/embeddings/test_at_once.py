"""Embedding while others delete and change: nothing outdated is stored, and nobody waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.embeddings.steps import EAST, embed, embedded, hand_in, know
from tests.support.protocol import ANA, activate, age, claim, complete, make_due, say
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions
from tests.support.sqlapi import Api


def _make_document(api: Api) -> None:
    know(api, "Bought a boat", "Painted it", memory_type="episodic")
    age(api, 8)
    api.consolidate(user_id="ana")
    article = {"title": "The boat", "content": "Bought and painted.", "numbers": [1, 2]}
    complete(api, claim(api, "consolidate"), articles=[article])


MAKE_AND_DROP: dict[str, tuple[Callable[[Api], Any], Callable[[Api], Any]]] = {
    "redacted message": (
        lambda api: say(api, "Hello", expires_at="2090-01-01"),
        lambda api: api.connection.execute("update memory.messages set content = 'redacted'"),
    ),
    "memory": (
        lambda api: know(api, "Likes tea"),
        lambda api: api.update_memory(
            user_id="ana", memory_id=api.value("select memory_id from memory.memories"), content="Likes coffee"
        ),
    ),
    "document": (
        _make_document,
        lambda api: api.delete_document(
            user_id="ana", document_id=api.value("select document_id from memory.documents")
        ),
    ),
}


@pytest.mark.feature("E6")
@pytest.mark.parametrize("source", MAKE_AND_DROP)
def test_a_row_deleted_while_its_embedding_is_being_stored_keeps_no_embedding(sessions: Sessions, source: str) -> None:
    worker = sessions.api
    make, drop = MAKE_AND_DROP[source]
    activate(worker, "ada", "embedding")
    make(worker)
    with worker.connection.transaction():
        hand_in(worker, claim(worker, "embed"))
        assert worker.query("select source from memory.texts where model is not null") == [(source.split()[-1],)]
        dropping = sessions.submit(drop)
        assert not dropping.done()
    dropping.result(PATIENCE)
    assert embedded(worker) == {}


@pytest.mark.feature("E6", "E14")
def test_a_thread_deleted_while_a_backfill_stores_its_embeddings_keeps_none(
    sessions: Sessions,
) -> None:
    """Nothing of a backfill is of the thread alone but the messages, which the backfill holds until it commits."""
    worker = sessions.api
    say(worker, "The secret is a boat")
    activate(worker, "ada", "embedding")
    job = claim(worker, "backfill")
    with worker.connection.transaction():
        assert hand_in(worker, job)["embedded"] == 1
        deleting = sessions.start("delete_thread", **ANA)
    deleting.result(PATIENCE)
    assert embedded(worker) == {}
    say(worker, "Another thread of the same name")
    assert worker.search(user_id="ana", query_embedding=str(EAST), mode="vector", sources=["message"]) == []


@pytest.mark.feature("E6")
@pytest.mark.parametrize("source", ["redacted message", "document"])
def test_a_result_does_not_wait_for_a_deletion_that_is_not_committed(
    connect: Callable[..., psycopg.Connection], source: str
) -> None:
    """The client may wait for the job's locks, so the result is refused at once; runners hand it in again."""
    worker, client = Api(connect()), Api(connect())
    make, drop = MAKE_AND_DROP[source]
    activate(worker, "ada", "embedding")
    make(worker)
    job = claim(worker, "embed")
    with client.connection.transaction():
        drop(client)
        with pytest.raises(errors.LockNotAvailable):
            hand_in(worker, job)
    assert hand_in(worker, job)["embedded"] == 0
    assert embedded(worker) == {}


@pytest.mark.feature("E6", "E14")
def test_embedding_while_clients_change_memories_keeps_what_is_current(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    activate(worker, "ada", "embedding")
    done = threading.Event()

    def write(number: int) -> None:
        for turn in range(1000):
            if done.is_set():
                break
            agent_id = ("sales", "support")[turn % 2]
            [memory_id] = know(clients[number], f"memory {turn} of {number}", agent_id=agent_id)
            clients[number].update_memory(user_id="ana", memory_id=memory_id, content=f"changed {turn} of {number}")
            if turn % 3 == 0:
                clients[number].delete_memory(user_id="ana", memory_id=memory_id)
            if turn % 10 == 0:
                clients[number].sweep()

    with ThreadPoolExecutor(len(clients)) as pool:
        writers = [pool.submit(write, number) for number in range(len(clients))]
        try:
            for turn in range(20):
                make_due(worker)
                for job in worker.claim_jobs(worker="test", kinds=["embed"]):
                    count = len(job.payload["texts"])
                    complete(worker, job, embeddings=[[1.0, float(turn), float(n % 7)] for n in range(count)])
        finally:
            done.set()
        for writer in writers:
            writer.result()
    embed(worker)
    missing = """
        select count(*) from memory.memories as m where m.superseded_at is null and m.deleted_at is null
        and not exists (select from memory.texts as e where e.id = m.memory_id::text and e.model = 'ada')
    """
    orphans = """
        select count(*) from memory.texts
        where model is not null and id not in (select memory_id::text from memory.memories)
    """
    assert (worker.value(missing), worker.value(orphans)) == (0, 0)
