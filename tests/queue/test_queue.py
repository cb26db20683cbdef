"""The queue: which jobs are queued and handed out, in which order, and what views show."""

from __future__ import annotations

from datetime import timedelta

import psycopg
import pytest
from psycopg import errors

from tests.support.jobs import ANA, claim, claim_and_die, kill, queued, say, settings
from tests.support.protocol import lease, make_due, open_jobs
from tests.support.sqlapi import Api, result_of


@pytest.mark.feature("F6")
def test_a_burst_of_messages_makes_one_job_of_each_kind(api: Api) -> None:
    settings(api, summary={"when": "each_round"})
    for _ in range(15):
        say(api, "user", "assistant")
    assert open_jobs(api) == ["extract_memories", "summarize_thread"]
    waiting = api.value("select job_id from memory.jobs where kind = 'extract_memories'")
    assert api.extract_memories(**ANA) == waiting
    with pytest.raises(errors.UniqueViolation):
        api.connection.execute(
            "insert into memory.jobs (user_id, kind, scope) values ('ana', 'extract_memories', 't1')"
        )


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "change",
    [
        "status = 'waiting'",
        "status = 'dead'",
        "finished_at = now()",
        "status = 'running'",
        "lease_token = gen_random_uuid(), lease_expires_at = now()",
    ],
)
def test_a_status_that_does_not_fit_is_refused(api: Api, change: str) -> None:
    queued(api)
    with pytest.raises(psycopg.errors.CheckViolation), api.connection.transaction():
        api.connection.execute(f"update memory.jobs set {change}".encode())
    columns, values = zip(*(part.split(" = ") for part in change.split(", ")), strict=True)
    insert = f"insert into memory.jobs (user_id, kind, scope, {', '.join(columns)}) values ('bob', 'embed', '', "
    with pytest.raises(psycopg.errors.CheckViolation):
        api.connection.execute(f"{insert}{', '.join(values)})".encode())


@pytest.mark.feature("F6")
def test_a_request_while_the_job_is_running_makes_another_run_follow(api: Api) -> None:
    say(api, "user", "assistant")
    first = api.summarize_thread(**ANA)
    job = claim(api)
    say(api, "user", "assistant")
    assert api.summarize_thread(**ANA) == first
    assert open_jobs(api) == ["summarize_thread"]
    api.complete_job(**lease(job), result=result_of(job))
    follower = claim(api)
    assert follower.job_id != first
    assert [message["seq"] for message in follower.payload["messages"]] == [2, 3]


@pytest.mark.feature("F6")
def test_a_worker_gets_the_kinds_it_asks_for(api: Api) -> None:
    say(api, "user", "assistant")
    api.extract_memories(**ANA)
    api.summarize_thread(**ANA)
    assert claim(api, max_jobs=10, kinds=["summarize_thread"]).kind == "summarize_thread"
    assert api.claim_jobs(worker="test", kinds=["summarize_thread"]) == []
    assert claim(api, max_jobs=10, kinds=["extract_memories", "summarize_thread"]).kind == "extract_memories"


@pytest.mark.feature("F6")
def test_a_job_whose_input_cannot_be_read_fails_by_itself(api: Api) -> None:
    job_id = queued(api)
    api.add_message(user_id="bob", thread_id="t1", role="user", content="Hello")
    api.extract_memories(user_id="bob", thread_id="t1")
    api.connection.execute("update memory.jobs set request = '{\"recent_k\": \"all\"}' where user_id = 'ana'")
    for attempt in range(1, 6):
        make_due(api)
        claimed = api.claim_jobs(worker="test", max_jobs=2)
        assert [job.user_id for job in claimed] == ["bob"] * (attempt == 1)
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.attempts) == ("dead", 5)
    assert job.error.startswith("it cannot be handed out: SQLSTATE 22P02 in memory._extract_memories_input")


@pytest.mark.usefixtures("db")
@pytest.mark.feature("F6")
def test_jobs_with_nothing_to_do_cost_the_same_however_many_there_are(api: Api) -> None:
    def work(jobs: int) -> int:
        for statement in (
            "insert into memory.messages (user_id, thread_id, role, content, expires_at) "
            "select 'ana', %s || ' of ' || n, 'user', 'over', '2020-01-01' from generate_series(1, %s) as n",
            "insert into memory.jobs (user_id, kind, scope) "
            "select 'ana', 'extract_memories', %s || ' of ' || n from generate_series(1, %s) as n",
        ):
            api.connection.execute(statement, [str(jobs), jobs])
        return api.entries_read(claim_all)

    def claim_all() -> None:
        while api.query("select from memory.jobs where status = 'pending' limit 1"):
            assert api.claim_jobs(worker="test") == []

    few, many = work(100), work(1000)
    assert api.value('select count(*) from memory.jobs where result = \'{"skipped": "nothing new"}\'') == 1100
    assert many < 20 * few


@pytest.mark.feature("F6")
def test_a_thread_of_huge_messages_does_not_stop_the_queue(api: Api) -> None:
    """Together the messages would be larger than a jsonb array can be."""
    api.connection.execute(
        "insert into memory.messages (user_id, thread_id, role, content) "
        "select 'ana', 't1', 'user', repeat('x', 10485760) from generate_series(1, 30)"
    )
    api.extract_memories(**ANA)
    api.add_message(user_id="bob", thread_id="t1", role="user", content="Hello")
    api.extract_memories(user_id="bob", thread_id="t1")
    jobs = {(job.user_id, job.kind) for job in api.claim_jobs(worker="test", max_jobs=3)}
    assert jobs == {("ana", "extract_memories"), ("ana", "compress_thread"), ("bob", "extract_memories")}


@pytest.mark.feature("F6")
def test_views_show_waiting_running_stuck_and_dead_jobs(api: Api) -> None:
    kill(api)
    api.extract_memories(**ANA)
    api.add_message(user_id="bob", thread_id="t1", role="user", content="Hello")
    stuck = api.extract_memories(user_id="bob", thread_id="t1")
    api.connection.execute("update memory.jobs set run_after = now() - interval '1 hour' where user_id = 'bob'")
    claim_and_die(api, worker="unlucky")
    statistics = api.query("select kind, status, jobs, most_attempts from memory.queue_stats order by status")
    assert statistics == [
        ("extract_memories", "dead", 1, 5),
        ("extract_memories", "pending", 1, 0),
        ("extract_memories", "running", 1, 1),
    ]
    [job] = api.query("select user_id, job_id, worker, overdue from memory.stuck_jobs")
    assert (job.user_id, job.job_id, job.worker) == ("bob", stuck, "unlucky")
    assert job.overdue > timedelta(0)
