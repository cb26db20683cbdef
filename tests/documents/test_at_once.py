"""Documents under many clients at once, and workers that die."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures import TimeoutError as FutureTimeoutError
from typing import Any
from uuid import UUID

import psycopg
import pytest

from tests.documents.steps import LONG, chunks, cut, embed, embedded, hand_in, pieces, store
from tests.support.protocol import activate, claim, complete, lease, open_jobs
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api


@pytest.mark.feature("A13", "E14")
@pytest.mark.parametrize("change", ["update", "delete"])
def test_a_change_waits_for_the_pieces_that_are_being_stored(
    connect: Callable[..., psycopg.Connection], change: str
) -> None:
    worker, client = Api(connect()), Api(connect())
    activate(worker, "ada", "embedding")
    document_id = store(worker)
    statement = {
        "update": "update memory.documents set content = content || ' The end.'",
        "delete": "delete from memory.documents",
    }[change]
    with ThreadPoolExecutor(1) as pool:
        with worker.connection.transaction():
            cut(worker)
            dropping = pool.submit(client.connection.execute, statement)
            with pytest.raises(FutureTimeoutError):
                dropping.result(0.2)
        dropping.result(PATIENCE)
    if change == "delete":
        assert chunks(worker) == []
    else:
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


@pytest.mark.feature("A13", "E14")
def test_cutting_and_embedding_while_clients_change_documents_ends_with_all_found(
    connect: Callable[..., psycopg.Connection],
) -> None:
    cutter, embedder, *clients = [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(5)]
    activate(cutter, "ada", "embedding")
    done = threading.Event()

    def write(number: int) -> None:
        ids: list[UUID] = []
        for turn in range(40):
            ids.append(store(clients[number], f"{LONG} {number} {turn}", title=f"turn {turn}"))
            with clients[number].connection.transaction():  # in an order that is not the workers' own
                for document_id in ids[:-4:-1]:
                    clients[number].connection.execute(
                        "update memory.documents set content = content || '!' where document_id = %s", [document_id]
                    )
                    clients[number].add_memory(user_id="ana", content=f"Memory {number} {turn} {document_id}")
            if turn % 3 == 0:
                clients[number].delete_document(user_id="ana", document_id=ids.pop(0))

    def work(api: Api, kinds: list[str]) -> None:
        while not done.is_set():
            for job in api.claim_jobs(worker="test", kinds=kinds):
                finish(api, job)

    def finish(api: Api, job: Any) -> None:
        """Hand a result in again and again, as the runners do, until nobody locks the rows that it changes."""
        while True:
            with contextlib.suppress(psycopg.errors.LockNotAvailable):
                if job.kind == "chunk_documents":
                    hand_in(api, job)
                else:
                    complete(api, job, embeddings=[[1.0, 0.5, 0.0]] * len(job.payload["texts"]))
                return

    with ThreadPoolExecutor(5) as pool:
        workers = [pool.submit(work, cutter, ["chunk_documents"]), pool.submit(work, embedder, ["embed", "backfill"])]
        try:
            for writer in [pool.submit(write, number) for number in range(len(clients))]:
                writer.result(PATIENCE)
        finally:
            done.set()
        for worker in workers:
            worker.result(PATIENCE)
    store(cutter)  # what was stored at the very moment at which a job ended is found by the next one
    while open_jobs(cutter):
        embed(cutter)
        for job in cutter.claim_jobs(worker="test", kinds=["chunk_documents"]):
            hand_in(cutter, job)
    state = cutter.query("""
        select count(*) filter (where c.token_count is null) as uncut,
          count(*) filter (where not exists (
            select from memory.texts as e
            where e.id = c.document_id || '/' || c.number and e.embedding is not null)) as missing,
          (select count(*) from memory.texts where model is not null and source = 'document') - count(*) as orphans,
          count(distinct c.document_id) - (select count(*) from memory.documents) as lost
        from memory.document_chunks as c
    """)
    assert state == [(0, 0, 0, 0)]


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


@pytest.mark.feature("A13", "F6")
def test_a_worker_that_dies_while_it_stores_pieces_leaves_the_job_to_another(
    connect: Callable[..., psycopg.Connection],
) -> None:
    worker, other = Api(connect()), Api(connect())
    store(other)
    job = claim(worker, "chunk_documents", lease="1 second")
    with contextlib.suppress(psycopg.OperationalError), worker.connection.transaction():
        worker.complete_job(**lease(job), result={"documents": [{"number": 1, "chunks": pieces(LONG)}]})
        other.query("select pg_terminate_backend(%(pid)s)", pid=worker.connection.info.backend_pid)
        worker.query("select 1")
    assert worker.connection.broken
    assert [tokens for _, _, tokens in chunks(other)] == [None]
    other.connection.execute("update memory.jobs set lease_expires_at = now() - interval '1 second'")
    hand_in(other, claim(other, "chunk_documents"))
    assert len(chunks(other)) == 2
