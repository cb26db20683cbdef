"""Many clients at once, each with a connection of its own: nothing is lost, doubled, miscounted or deadlocked."""

from __future__ import annotations

import itertools
import random
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.concurrency.steps import ANA, CLIENTS, HELLO, assert_counters_are_exact, at_once
from tests.support.sqlapi import Api


@pytest.mark.feature("E14")
def test_single_messages_of_one_thread_get_numbers_without_gaps(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    seqs = at_once(clients(), lambda api, _: [api.add_message(**ANA, **HELLO).seq for _ in range(40)])
    assert sorted(itertools.chain(*seqs)) == list(range(CLIENTS * 40))
    assert all(numbers == sorted(numbers) for numbers in seqs)
    api = Api(db)
    assert_counters_are_exact(api)
    assert api.query("select message_count, next_seq from memory.threads") == [(320, 320)]
    assert api.value("select count(*) from memory.jobs where status = 'pending'") == 1


@pytest.mark.feature("E14")
def test_batches_of_one_thread_stay_together(clients: Callable[[], list[Api]], db: psycopg.Connection) -> None:
    def append(api: Api, number: int) -> list[list[int]]:
        batches = [[HELLO] * random.Random(number * 100 + n).randint(1, 30) for n in range(15)]
        return [[row.seq for row in api.add_messages(**ANA, messages=batch)] for batch in batches]

    batches = list(itertools.chain(*at_once(clients(), append)))
    assert all(batch == list(range(batch[0], batch[0] + len(batch))) for batch in batches)
    assert sorted(itertools.chain(*batches)) == list(range(sum(map(len, batches))))
    assert_counters_are_exact(Api(db))


@pytest.mark.feature("B8", "E14")
def test_the_limit_of_one_agent_is_exact_at_every_moment(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    watcher = Api(db)
    watcher.set_policy(settings={"memories": {"max_per_agent": 25}})
    done = threading.Event()

    def watch() -> int:
        most = 0
        while not done.is_set():
            most = max(most, watcher.value("select count(*) from memory.memories where deleted_at is null"))
        return most

    def fill(api: Api, number: int) -> None:
        for n in range(30):
            if n % 5:
                api.add_memory(user_id="ana", content=f"memory {n} of client {number}")
            else:
                bulk = (
                    "insert into memory.memories (user_id, content) select 'ana', %s || n from generate_series(1, 40) n"
                )
                api.connection.execute(bulk, [f"bulk {n} of client {number}, "])

    with ThreadPoolExecutor(1) as pool:
        most = pool.submit(watch)
        try:
            at_once(clients(), fill)
        finally:
            done.set()
    assert most.result() == 25
    assert len(watcher.list_memories(user_id="ana", row_limit=100)) == 25
    assert watcher.value("select memory_count from memory.memory_scopes") == 25


@pytest.mark.feature("F6", "D9")
def test_one_of_two_completions_of_one_lease_is_applied(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    api = Api(db)
    for number in range(10):
        api.add_message(**ANA, **HELLO)
        api.extract_memories(**ANA)
        [job] = api.claim_jobs(worker="w", kinds=["extract_memories"])
        memory = {"content": f"Said hello {number}", "memory_type": "fact", "seqs": [number]}

        def complete(api: Api, _: int, job: Any = job, memory: dict[str, Any] = memory) -> str:
            try:
                lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
                api.complete_job(**lease, result={"memories": [memory]})
            except psycopg.Error as error:
                return error.sqlstate or ""
            return "done"

        if number == 0:
            racing = clients()
        assert sorted(at_once(racing, complete)) == ["AM001"] * (CLIENTS - 1) + ["done"]
    assert api.query("select memory_count, duplicates_skipped from memory.memory_scopes") == [(10, 0)]
