"""Nobody outside can hold a lock that a claim needs, and workers at once keep to budgets."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.queue.fair_queue.steps import Connect, queue
from tests.support.protocol import ANA, activate, make_due, nothing_to_do, say
from tests.support.runners import PATIENCE
from tests.support.sqlapi import Api

RUNNING = "select count(*) from memory.jobs where status = 'running'"


@pytest.mark.feature("F20", "F7")
def test_nobody_outside_holds_a_lock_that_a_claim_or_an_edit_needs(api: Api, connect: Connect) -> None:
    activate(api)
    api.set_policy(settings={"budget": {"tokens_per_user_per_day": 10**6, "tokens_per_agent_per_day": 10**6}})
    api.set_policy(settings={"cadence": {"thread_summary_every_n": 2}})
    api.connection.execute("create role outsider login")
    outsider = connect(user="outsider")
    for name in ("budget user ana", "budget agent default", "summary ana t1", "prompt consolidate"):
        outsider.execute("select pg_advisory_lock(hashtextextended(%s, 0))", [f"agent_memory {name}"])
    say(api, "Hello")
    say(api, "Hello", role="assistant")
    api.extract_memories(**ANA)
    api.summarize_thread(**ANA)
    kinds = {job.kind for job in api.claim_jobs(worker="test", max_jobs=10)}
    assert kinds == {"extract_memories", "summarize_thread"}
    template = api.value("select template from memory.prompts where name = 'consolidate'")
    api.connection.execute("set statement_timeout = '60s'")
    assert api.set_prompt(name="consolidate", template=template + "\n") == 2
    # pg_try_advisory_... does not wait for what others hold.
    waiting = "select proname from pg_proc where pronamespace = 'memory'::regnamespace and prosrc ~ 'pg_advisory'"
    assert api.query(waiting) == []


@pytest.mark.feature("F20", "F7")
def test_workers_at_once_cannot_take_the_last_tokens_of_an_agent_twice(connect: Connect, api: Api) -> None:
    workers = [Api(connect()) for _ in range(6)]
    activate(api)
    api.set_policy(settings={"budget": {"tokens_per_agent_per_day": 9}})  # a message is 2 tokens
    for number in range(12):
        queue(api, f"user {number}")
    for _ in range(100):  # who finds the budget locked comes back later
        if api.value(RUNNING) == 4:
            break
        start = threading.Barrier(len(workers))

        def work(number: int, start: threading.Barrier = start) -> int:
            start.wait(PATIENCE)
            return len(workers[number].claim_jobs(worker=f"w{number}", max_jobs=2))

        with ThreadPoolExecutor(len(workers)) as pool:
            list(pool.map(work, range(len(workers))))
        make_due(api)
    assert nothing_to_do(workers[0])
    assert api.value(RUNNING) == 4
