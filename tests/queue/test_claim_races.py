"""Claims, and writers that queue work, beside transactions of others that are still open: nobody waits for them.

What is being cleared right now goes to no model, what was asked meanwhile is done, and a claim always ends.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest

from tests.queue.fair_queue.steps import queue as queue_jobs
from tests.support.protocol import ANA, activate, claim, complete, lease, make_due, nothing_to_do, open_jobs, say
from tests.support.runners import PATIENCE
from tests.support.sqlapi import NO_WAIT, Api

Connect = Callable[..., psycopg.Connection]

QUIET: dict[str, dict[str, Any]] = {
    "summary": {"enabled": False},
    "compression": {"enabled": False, "recent_messages_to_keep": 2},
    "cadence": {"fact_extraction_every_n": 0},
}


@pytest.fixture
def api(db: psycopg.Connection) -> Api:
    """Nothing is queued by itself."""
    api = Api(db)
    api.set_policy(settings=QUIET)
    return api


@pytest.fixture
def other(connect: Connect) -> Api:
    """A session that may not wait."""
    return Api(connect(options=NO_WAIT))


def queue(api: Api, kind: str) -> None:
    """Queue a job, as a transaction does that began before the thread was cleared."""
    api.connection.execute("insert into memory.jobs (user_id, kind, scope) values ('ana', %s, 't1')", [kind])
    api.connection.execute("update memory.jobs set request = '{\"is_forced\": true}' where kind = 'compress_thread'")


# A job that two workers want -----------------------------------------------------------------------------------------


@pytest.mark.feature("F6", "F20")
def test_workers_at_once_never_get_the_same_job_and_leave_none(api: Api, connect: Connect) -> None:
    workers = [Api(connect()) for _ in range(6)]
    for number in range(15):
        queue_jobs(api, f"user {number}", jobs=1 + number % 4)
    start = threading.Barrier(len(workers))

    def work(number: int) -> list[int]:
        start.wait(PATIENCE)
        claimed: list[int] = []
        while jobs := workers[number].claim_jobs(worker=f"w{number}", max_jobs=1 + number):
            claimed += [job.job_id for job in jobs]
        return claimed

    with ThreadPoolExecutor(len(workers)) as pool:
        claimed = [job_id for jobs in pool.map(work, range(len(workers))) for job_id in jobs]
    assert sorted(claimed) == [row.job_id for row in api.query("select job_id from memory.jobs order by job_id")]
    odd = "select from memory.jobs where (status, attempts) <> ('running', 1) or worker is null or error is not null"
    assert api.query(odd) == []
    assert api.value("select count(distinct lease_token) from memory.jobs") == len(claimed)


@pytest.mark.feature("F6", "F20")
def test_a_job_that_somebody_holds_is_passed_by_and_comes_later(api: Api, connect: Connect) -> None:
    queue_jobs(api, "ana", jobs=2)
    other = connect()
    with other.transaction():
        other.execute("select from memory.jobs where scope = 't000001' for update")
        assert [job.payload["thread_id"] for job in api.claim_jobs(worker="test", max_jobs=2)] == ["t000002"]
    assert claim(api).payload["thread_id"] == "t000001"


# A thread that is being cleared ---------------------------------------------------------------------------------------


@pytest.mark.feature("A11", "D11")
@pytest.mark.parametrize(
    ("function", "kind"),
    [
        ("clear_thread", "extract_memories"),
        ("delete_thread", "summarize_thread"),
        ("clear_thread", "compress_thread"),
    ],
)
def test_messages_that_are_being_cleared_are_handed_to_nobody(api: Api, other: Api, function: str, kind: str) -> None:
    api.talk(**ANA, rounds=3)
    with api.connection.transaction():
        getattr(api, function)(**ANA)
        queue(other, kind)
        assert nothing_to_do(other)
    assert open_jobs(api) == [kind]
    make_due(api)
    assert other.finish_jobs(memory="Asked question 0") == 0
    assert open_jobs(api) == []
    assert api.query("select from memory.memories") == api.query("select from memory.summaries") == []


@pytest.mark.feature("A11", "E7")
def test_a_summary_of_the_user_leaves_out_messages_that_are_being_cleared(api: Api, other: Api) -> None:
    say(api, "I live in Oslo")
    say(api, "I like tea", thread_id="t2")
    with api.connection.transaction():
        api.clear_thread(**ANA)
        other.summarize_user(user_id="ana")
        job = claim(other)
        assert [message["content"] for message in job.payload["messages"]] == ["I like tea"]
        complete(other, job, summary="Likes tea")
    other.summarize_user(user_id="ana")
    assert nothing_to_do(other)
    [summary] = api.get_user_summary(user_id="ana")
    assert summary.summary == "Likes tea"


@pytest.mark.feature("D10", "F6")
def test_an_open_append_keeps_no_job_of_its_thread_back(api: Api, other: Api) -> None:
    say(api, "Hello", "I like tea")
    with api.connection.transaction():
        say(api, "I live in Oslo")
        other.extract_memories(**ANA)
        job = claim(other)
        say(api, "Bye")
    assert [message["seq"] for message in job.payload["messages"]] == [0, 1]


# The same job queued by two -------------------------------------------------------------------------------------------


def becomes_quiet(api: Api) -> None:
    """A thread with unread messages of two hours ago."""
    api.set_policy(settings={"cadence": {"fact_extraction_every_n": 10}})
    say(api, "Hello")
    api.connection.execute("update memory.threads set last_at = now() - interval '2 hours'")


def has_models(api: Api) -> None:
    """A thread and a memory, embedded by one model, and another one."""
    say(api, "Hello")
    api.add_memory(user_id="ana", content="Likes tea")
    api.register_model(name="next", kind="embedding", provider="openai", model="next")
    activate(api, "ada", "embedding")
    api.connection.execute("delete from memory.jobs")


Act = Callable[[Api], Any]
BOTH_QUEUE: dict[str, tuple[Act, Act, Act, list[str]]] = {
    "memories of two agents": (
        has_models,
        lambda api: api.add_memory(user_id="ana", agent_id="a", content="Likes coffee"),
        lambda api: api.add_memory(user_id="ana", agent_id="b", content="Likes coffee"),
        ["embed"],
    ),
    "an append beside another model": (
        has_models,
        lambda api: api.activate_model(name="next"),
        lambda api: say(api, "Hello again"),
        ["backfill", "embed"],
    ),
    "an append beside a sweep": (
        becomes_quiet,
        lambda api: api.sweep(),
        lambda api: say(api, *["Hello"] * 10),
        ["extract_memories"],
    ),
    "a sweep beside an extraction that was asked for": (
        becomes_quiet,
        lambda api: api.extract_memories(**ANA),
        lambda api: api.sweep(),
        ["extract_memories"],
    ),
}


@pytest.mark.feature("D10", "E14")
@pytest.mark.parametrize("name", BOTH_QUEUE)
def test_nobody_waits_for_another_who_queued_the_same_job(api: Api, other: Api, name: str) -> None:
    prepare, first, second, jobs = BOTH_QUEUE[name]
    prepare(api)
    with api.connection.transaction():
        first(api)
        second(other)
    assert open_jobs(api) == jobs


# Asked during an attempt ----------------------------------------------------------------------------------------------


def expire(api: Api, job: Any) -> None:
    api.connection.execute("update memory.jobs set lease_expires_at = now() where job_id = %s", [job.job_id])


GIVE_BACK: dict[str, Callable[[Api, Any], Any]] = {
    "failed": lambda api, job: api.fail_job(**lease(job), error="no luck", retry_after="0"),
    "released": lambda api, job: api.release_job(**lease(job)),
    "expired": expire,
}


@pytest.mark.feature("E15", "F6")
@pytest.mark.parametrize("outcome", GIVE_BACK)
def test_a_compression_that_was_asked_for_during_an_automatic_one_is_made(api: Api, outcome: str) -> None:
    api.set_policy(settings={"compression": {"enabled": True, "threshold_tokens": 20}})
    say(api, *["x" * 40] * 6)
    job = claim(api)
    assert not job.payload["is_forced"]
    api.compress_thread(**ANA)
    GIVE_BACK[outcome](api, job)
    job = claim(api)
    assert job.payload["is_forced"]
    complete(api, job, summary="They talked.")
    assert open_jobs(api) == []


@pytest.mark.feature("E8", "F6")
def test_a_wider_request_during_an_attempt_is_not_forgotten_for_a_narrower_one_after_it(api: Api) -> None:
    say(api, *["Hello"] * 9)
    api.extract_memories(**ANA, recent_k=2)
    job = claim(api)
    api.extract_memories(**ANA)
    GIVE_BACK["failed"](api, job)
    api.extract_memories(**ANA, recent_k=1)
    assert len(claim(api).payload["messages"]) == 9


# What cannot be done now ----------------------------------------------------------------------------------------------


@pytest.mark.feature("F6")
def test_a_claim_over_a_long_queue_with_nothing_to_do_ends_and_the_next_one_goes_on(api: Api) -> None:
    say(api, "Hello", thread_id="last")
    api.connection.execute(
        "insert into memory.jobs (user_id, kind, scope) "
        "select 'ana', 'extract_memories', n from generate_series(1, 6) as n"
    )
    api.extract_memories(user_id="ana", thread_id="last")
    # Six slow ones in place of thousands.
    api.connection.execute("""
        create function memory.be_slow() returns trigger language plpgsql
        as 'begin perform pg_sleep(0.7); return new; end';
        create trigger slow before update on memory.jobs for each row when (new.status = 'completed')
        execute function memory.be_slow()
    """)
    assert api.query("select from memory.claim_jobs('test')") == []
    done = api.value("select count(*) from memory.jobs where status = 'completed'")
    assert 1 <= done <= 3
    api.connection.execute("drop trigger slow on memory.jobs")
    assert claim(api).payload["thread_id"] == "last"
    assert api.value("select count(*) from memory.jobs where status = 'completed'") == 6
