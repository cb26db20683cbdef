"""Before a search the client does the jobs that embed what was stored just now."""

from __future__ import annotations

import asyncio
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import DegradedWarning, Memory
from agent_memory.calls import WorkerProtocol
from agent_memory.client import servers
from agent_memory.client._sync import embedding
from agent_memory.jobs import due_jobs
from psycopg_pool import ConnectionPool

from tests.client.steps import LONG, WORDS, found, jobs, use
from tests.support.local_models import tiny_embedder
from tests.support.runners import PATIENCE


@pytest.fixture(autouse=True)
def _nothing_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(servers, "_servers", {})
    # A client gives back its jobs in milliseconds, but not where others need the machine.
    monkeypatch.setattr(embedding, "_LONGEST_END", PATIENCE)


@pytest.fixture
def client(dsn: str) -> Iterator[Memory]:
    with Memory(dsn, catch_up_seconds=LONG) as memory:
        yield memory


def test_jobs_of_others_are_left_alone(client: Memory, db: psycopg.Connection, tmp_path: Path) -> None:
    use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
    for user_id in ("ana", "bo"):
        client.add_message(user_id, "monday", "user", "Green tea")
        client.add_message(user_id, "tuesday", "user", "Black tea")
    assert len(found(client, "tea")) == 2
    status = "select user_id, status, attempts from memory.jobs where kind = 'embed' order by job_id"
    assert db.execute(status).fetchall() == [
        ("ana", "completed", 1),
        ("ana", "completed", 1),
        ("bo", "pending", 0),
        ("bo", "pending", 0),
    ]


def test_a_search_waits_no_longer_than_it_may_and_the_work_goes_on(
    dsn: str, db: psycopg.Connection, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gate = threading.Event()
    run_job = due_jobs._Runner.run

    async def wait_and_run(self: due_jobs._Runner, *arguments: Any) -> dict[str, Any]:
        assert await asyncio.to_thread(gate.wait, PATIENCE)
        return await run_job(self, *arguments)

    monkeypatch.setattr(due_jobs._Runner, "run", wait_and_run)
    with Memory(dsn) as memory:
        use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        memory.add_message("ana", "monday", "user", "Green tea")
        with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
            memory.search("ana", "black tea")
        [due] = memory._embedder._due.values()
        gate.set()
        assert due.end.result(PATIENCE) is None
        assert due.has_succeeded()
        assert jobs(db) == [("completed", 1)]


def test_closing_gives_back_what_is_under_way(dsn: str, db: psycopg.Connection, minilm: Path) -> None:
    with Memory(dsn, catch_up_seconds=0.01) as memory:
        use(memory, "minilm", minilm)
        memory.add_messages(
            "ana", "monday", [{"role": "user", "content": f"{number} {'tea ' * 250}"} for number in range(200)]
        )
        with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
            memory.search("ana", "something else")
        assert jobs(db) == [("running", 1)]
        # A client that is killed holds its jobs no longer.
        lease = "select max(lease_expires_at) <= clock_timestamp() + interval '30 s' from memory.jobs"
        assert db.execute(lease).fetchone() == (True,)
    assert jobs(db) == [("pending", 0)]


@pytest.mark.parametrize("autocommit", [True, False])
def test_jobs_are_done_in_no_transaction_of_the_caller(
    connect: Any, dsn: str, db: psycopg.Connection, autocommit: bool, tmp_path: Path
) -> None:
    with Memory(dsn) as memory:
        use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        memory.add_message("ana", "monday", "user", "Green tea")
    connection = connect()
    connection.autocommit = autocommit
    own = Memory(connection, catch_up_seconds=LONG)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DegradedWarning)
        with connection.transaction():
            own.search("ana", "tea")
        assert jobs(db) == [("pending", 0)]
        own.search("ana", "coffee")
    connection.rollback()
    assert jobs(db) == [("completed", 1) if autocommit else ("pending", 0)]


def test_a_connection_of_the_caller_is_left_alone_behind_a_search(
    dsn: str, db: psycopg.Connection, minilm: Path
) -> None:
    with Memory(dsn) as memory:
        use(memory, "minilm", minilm)
        memory.add_messages(
            "ana", "monday", [{"role": "user", "content": f"{number} {'tea ' * 250}"} for number in range(200)]
        )
    own = Memory(db, catch_up_seconds=0.01)
    with pytest.warns(DegradedWarning, match="not embedded anything of this user yet"):
        own.search("ana", "tea")
    assert jobs(db) == [("pending", 0)]
    assert all(due.end.done() for due in own._embedder._due.values())


def test_a_job_that_a_worker_does_is_waited_for(dsn: str, client: Memory, tmp_path: Path) -> None:
    use(client, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
    client.add_message("ana", "monday", "user", "Green tea")
    [job] = WorkerProtocol(client.caller).claim_jobs("worker", ["embed"], 4, user_id="ana")

    def complete() -> None:
        time.sleep(0.5)
        vector = [1.0 if place == 4 else 0.0 for place in range(8)]
        with Memory(dsn) as worker:
            WorkerProtocol(worker.caller).complete_job(
                job.user_id, job.job_id, job.lease_token, {"embeddings": [vector]}
            )

    with ThreadPoolExecutor(1) as threads:
        done = threads.submit(complete)
        assert found(client, "black tea", mode="vector") == ["Green tea"]
        done.result()


def test_threads_may_share_a_client(dsn: str, tmp_path: Path) -> None:
    with ConnectionPool(dsn, min_size=1, max_size=4, kwargs={"autocommit": True}) as pool:
        memory = Memory(pool, catch_up_seconds=LONG)
        use(memory, "tiny", tiny_embedder(tmp_path / "tiny", WORDS))
        for user_id in ("ana", "bo", "cy"):
            memory.add_message(user_id, "monday", "user", "Green tea")

        def search(user_id: str) -> list[str]:
            return [result.content for result in memory.search(user_id, "black tea", mode="vector")]

        with ThreadPoolExecutor(6) as threads:
            assert list(threads.map(search, ["ana", "bo", "cy"])) == [["Green tea"]] * 3
            assert list(threads.map(search, ["ana", "bo", "cy"] * 4)) == [["Green tea"]] * 12
        memory.close()
