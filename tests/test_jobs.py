"""Model work: the job protocol, automatic extraction and the rolling summary, all through SQL and without a model."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import psycopg
import pytest
from protocol import lease, make_due, open_jobs
from psycopg import errors
from psycopg.types.json import Jsonb
from sqlapi import OLD_STRINGS, Api, refused, result_of

ANA = {"user_id": "ana", "thread_id": "t1"}
FACT = {"content": "Likes tea", "memory_type": "fact", "seqs": [0]}
SUMMARY = {"summary": "They talked."}
LOCAL = {"name": "local", "provider": "local", "model": "patterns", "settings": {}}


@pytest.fixture
def api(db: psycopg.Connection) -> Api:
    return Api(db)


def queued(api: Api, messages: int = 1) -> int:
    """Ask for an extraction in a thread with so many messages of the user; the job's id."""
    api.add_messages(**ANA, messages=[{"role": "user", "content": f"message {n}"} for n in range(messages)])
    job_id: int = api.extract_memories(**ANA)
    return job_id


def claim(api: Api, **arguments: Any) -> Any:
    """The one job there is to do."""
    [job] = api.claim_jobs(**{"worker": "test", **arguments})
    return job


def claim_and_die(api: Api, **arguments: Any) -> Any:
    """A claim whose lease has run out already."""
    return claim(api, lease="1 microsecond", **arguments)


def status(api: Api, job: Any) -> str:
    result: str = api.get_job(user_id="ana", job_id=job if isinstance(job, int) else job.job_id).status
    return result


def say(api: Api, *roles: str, **metadata: Any) -> int:
    """Append a message for each role, one at a time; the last seq."""
    for role in roles:
        seq: int = api.add_message(**ANA, role=role, content=f"{role} speaks", metadata=metadata).seq
    return seq


def summaries(api: Api) -> list[tuple[Any, ...]]:
    return api.query("select start_seq, end_seq, status from memory.summary_chain")


def settings(api: Api, **sections: dict[str, Any]) -> None:
    api.set_policy(settings=sections)


def extraction_only(api: Api) -> None:
    settings(api, summary={"enabled": False})


def summary_only(api: Api) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0})


# The protocol ---------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F6")
def test_a_claim_brings_all_that_an_extraction_needs(api: Api) -> None:
    api.add_message(
        **ANA,
        role="user",
        content="I live in Oslo",
        metadata={"name": "Ana", "x": 1},
        created_at="2024-05-01T10:00:00Z",
    )
    api.add_message(**ANA, role="assistant", content="Noted.", created_at="2024-05-01T10:00:05Z")
    job_id = api.extract_memories(**ANA)
    job = claim(api)
    assert (job.job_id, job.kind, job.user_id, job.attempt) == (job_id, "extract_memories", "ana", 1)
    types = job.payload.pop("memory_types")
    assert {"memory_type": "fact", "description": "Something true about the user or their environment"} in types
    question, answer = job.payload.pop("messages")
    assert question == {
        "seq": 0,
        "role": "user",
        "name": "Ana",
        "content": "I live in Oslo",
        "created_at": "2024-05-01T10:00:00+00:00",
        "token_count": 4,
    }
    assert answer == {
        "seq": 1,
        "role": "assistant",
        "content": "Noted.",
        "created_at": "2024-05-01T10:00:05+00:00",
        "token_count": 2,
    }
    assert job.payload == {"model": LOCAL, "prompt": None, "thread_id": "t1"}


@pytest.mark.feature("F6")
def test_a_claim_brings_all_that_a_summary_needs(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    first = claim(api)
    assert first.kind == "summarize_thread"
    assert [message["seq"] for message in first.payload.pop("messages")] == [0, 1, 2, 3, 4, 5]
    assert first.payload == {
        "model": LOCAL,
        "prompt": None,
        "thread_id": "t1",
        "kind": "rolling",
        "start_seq": 0,
        "end_seq": 5,
        "previous_summary": None,
        "previous_metadata": None,
        "previous_end_seq": None,
    }
    api.complete_job(**lease(first), result={**SUMMARY, "metadata": {"topics": ["tea"]}})
    api.talk(**ANA, rounds=1)
    second = claim(api).payload
    assert [message["seq"] for message in second["messages"]] == [6, 7]
    assert (second["previous_summary"], second["previous_end_seq"]) == ("They talked.", 5)
    assert second["previous_metadata"] == {"topics": ["tea"]}


@pytest.mark.feature("F6", "E15")
def test_a_completed_job_has_stored_its_result_with_its_origin(api: Api) -> None:
    api.add_message(**ANA, role="user", content="I live in Oslo and prefer mail", agent_id="support")
    api.add_message(**ANA, role="user", content="Bye", agent_id="sales")
    job_id = api.extract_memories(**ANA)
    memories = [
        {"content": "Lives in Oslo", "memory_type": "fact", "confidence": 0.75, "importance": 0.5, "seqs": [0]},
        {"content": "Prefers mail", "memory_type": "preference", "seqs": [1.0, 0]},
    ]
    api.complete_job(**lease(claim(api)), result={"memories": memories, "generation_time_ms": 12})
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.attempts, job.error) == ("completed", 1, None)
    assert job.result == {"inserted": 2, "duplicates": 0, "refused": 0, "through_seq": 1}
    columns = "content, memory_type, agent_id, thread_id, source, source_seqs, confidence"
    assert api.query(f"select {columns} from memory.memories order by 1") == [
        ("Lives in Oslo", "fact", "support", "t1", "extraction", [0], 0.75),
        ("Prefers mail", "preference", "sales", "t1", "extraction", [1, 0], 1.0),
    ]


@pytest.mark.feature("F6", "E12")
def test_what_was_extracted_before_is_skipped_and_counted(api: Api) -> None:
    queued(api)
    repeated = {"content": "likes  TEA", "memory_type": "fact", "seqs": [0]}
    api.complete_job(**lease(claim(api)), result={"memories": [FACT, repeated]})
    queued(api)
    job = claim(api)
    api.complete_job(**lease(job), result={"memories": [{**FACT, "seqs": [1]}]})
    assert api.get_job(user_id="ana", job_id=job.job_id).result["duplicates"] == 1
    assert api.query("select memory_count, duplicates_skipped from memory.memory_scopes") == [(1, 2)]


@pytest.mark.feature("F6")
def test_a_claimed_job_is_not_handed_out_again(api: Api) -> None:
    queued(api)
    claim(api)
    assert api.claim_jobs(worker="other", max_jobs=10) == []


PROTOCOL: dict[str, dict[str, Any]] = {
    "complete_job": {"result": {"memories": []}},
    "fail_job": {"error": "no reason"},
    "release_job": {},
    "extend_job": {"lease": "1 minute"},
}


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "wrong", [{"lease_token": uuid4()}, {"lease_token": None}, {"user_id": "bob"}, {"job_id": 77}], ids=str
)
@pytest.mark.parametrize("function", PROTOCOL)
def test_without_the_lease_nothing_can_be_done_to_a_job(api: Api, function: str, wrong: dict[str, Any]) -> None:
    queued(api)
    job = claim(api)
    before = api.state()
    with refused("lease_token", "AM001"):
        getattr(api, function)(**{**lease(job), **PROTOCOL[function], **wrong})
    assert api.state() == before


@pytest.mark.feature("F6")
@pytest.mark.parametrize("function", PROTOCOL)
@pytest.mark.parametrize("before", ["complete_job", "fail_job", "release_job"])
def test_a_lease_ends_when_the_job_is_done_failed_or_released(api: Api, before: str, function: str) -> None:
    queued(api)
    job = claim(api)
    getattr(api, before)(**lease(job), **PROTOCOL[before])
    with refused("lease_token", "AM001"):
        getattr(api, function)(**lease(job), **PROTOCOL[function])


@pytest.mark.feature("F6", "D9")
def test_a_job_whose_worker_died_is_handed_out_again_and_takes_effect_once(api: Api) -> None:
    queued(api)
    dead = claim_and_die(api, worker="first")
    again = claim(api, worker="second")
    assert (again.job_id, again.attempt) == (dead.job_id, 2)
    assert again.lease_token != dead.lease_token
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(dead), result={"memories": [FACT]})
    api.complete_job(**lease(again), result={"memories": [FACT]})
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(again), result={"memories": [FACT]})
    assert api.value("select count(*) from memory.memories") == 1


@pytest.mark.feature("F6")
def test_a_late_result_counts_as_long_as_nobody_else_has_the_job(api: Api) -> None:
    queued(api)
    late = claim_and_die(api)
    api.complete_job(**lease(late), result={"memories": [FACT]})
    assert api.claim_jobs(worker="other") == []
    assert api.value("select count(*) from memory.memories") == 1


@pytest.mark.feature("F6")
def test_an_extended_lease_keeps_the_job(api: Api) -> None:
    queued(api)
    job = claim_and_die(api)
    api.extend_job(**lease(job), lease="1 minute")
    assert api.claim_jobs(worker="other") == []
    api.extend_job(**lease(job), lease="1 microsecond")
    assert claim(api, worker="other").job_id == job.job_id


# Failures -------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F6")
def test_a_failed_job_waits_longer_after_each_attempt_and_dies_after_the_fifth(api: Api) -> None:
    job_id = queued(api)
    for attempt, seconds in enumerate([10, 40, 160, 640, None], start=1):
        job = claim(api)
        assert job.attempt == attempt
        outcome = api.fail_job(**lease(job), error=f"failure {attempt}")
        assert outcome == ("dead" if seconds is None else "pending") == status(api, job_id)
        if seconds is not None:
            delay = api.value("select extract(epoch from run_after - statement_timestamp()) from memory.jobs")
            assert seconds * 0.98 < delay <= seconds * 1.25
            assert api.claim_jobs(worker="test") == []
            make_due(api)
    assert api.claim_jobs(worker="test") == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.attempts, job.error, job.finished_at is not None) == (5, "failure 5", True)
    [dead] = api.query("select * from memory.dead_jobs")
    assert (dead.user_id, dead.job_id, dead.kind, dead.scope, dead.error) == (
        "ana",
        job_id,
        "extract_memories",
        "t1",
        "failure 5",
    )


@pytest.mark.feature("F6")
@pytest.mark.parametrize("function", ["fail_job", "release_job"])
@pytest.mark.parametrize(
    ("retry_after", "expected"), [("90 seconds", "90 s"), ("-1 hour", "0 s"), ("100 years", "1 day"), ("0", "0 s")]
)
def test_the_worker_may_say_when_to_try_again(api: Api, function: str, retry_after: str, expected: str) -> None:
    queued(api)
    reason = {"error": "overloaded"} if function == "fail_job" else {}
    with api.connection.transaction():
        getattr(api, function)(**lease(claim(api)), **reason, retry_after=retry_after)
        waiting = api.value("select run_after - statement_timestamp() from memory.jobs")
    wanted = api.value("select %(expected)s::interval", expected=expected)
    assert timedelta(seconds=-1) < waiting - wanted <= timedelta(0)


@pytest.mark.feature("F6")
def test_a_job_that_kills_each_of_its_workers_dies_too(api: Api) -> None:
    job_id = queued(api)
    for attempt in range(1, 6):
        assert claim_and_die(api, worker=f"w{attempt}").attempt == attempt
    assert api.claim_jobs(worker="test") == []
    job = api.get_job(user_id="ana", job_id=job_id)
    assert (job.status, job.error) == ("dead", 'the lease of worker "w5" ran out in attempt 5')


@pytest.mark.feature("F6")
def test_a_released_job_has_lost_no_attempt(api: Api) -> None:
    job_id = queued(api)
    for _ in range(7):
        job = claim(api)
        assert job.attempt == 1
        api.release_job(**lease(job))
    assert api.get_job(user_id="ana", job_id=job_id).attempts == 0
    api.release_job(**lease(claim(api)), retry_after="1 hour")
    assert api.claim_jobs(worker="test") == []


def kill(api: Api) -> int:
    """A dead extraction job."""
    job_id = queued(api)
    api.connection.execute("update memory.jobs set attempts = 4")
    assert api.fail_job(**lease(claim(api)), error="hopeless") == "dead"
    return job_id


@pytest.mark.feature("F6")
def test_a_dead_job_can_be_given_all_its_attempts_again(api: Api) -> None:
    job_id = kill(api)
    api.retry_job(user_id="ana", job_id=job_id)
    assert claim(api).attempt == 1
    assert api.query("select * from memory.dead_jobs") == []


@pytest.mark.feature("F6")
def test_a_waiting_job_can_be_put_in_front(api: Api) -> None:
    job_id = queued(api)
    api.fail_job(**lease(claim(api)), error="x", retry_after="1 hour")
    api.retry_job(user_id="ana", job_id=job_id)
    assert claim(api).job_id == job_id


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    ("prepare", "code"),
    [
        (lambda api: claim(api), "22023"),
        (lambda api: api.complete_job(**lease(claim(api)), result={"memories": []}), "22023"),
        (lambda api: api.connection.execute("delete from memory.jobs"), "P0002"),
    ],
    ids=["running", "completed", "gone"],
)
def test_only_a_dead_or_waiting_job_can_be_retried(api: Api, prepare: Callable[[Api], Any], code: str) -> None:
    job_id = queued(api)
    prepare(api)
    with refused("job_id", code):
        api.retry_job(user_id="ana", job_id=job_id)


@pytest.mark.feature("F6")
def test_a_dead_job_is_not_retried_beside_a_newer_one(api: Api) -> None:
    job_id = kill(api)
    assert api.extract_memories(**ANA) != job_id
    with refused("job_id", "23505"):
        api.retry_job(user_id="ana", job_id=job_id)


# The queue ------------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F6")
def test_a_burst_of_messages_makes_one_job_of_each_kind(api: Api) -> None:
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
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread"])
def test_a_request_while_the_job_is_running_makes_another_run_follow(api: Api, kind: str) -> None:
    say(api, "user", "assistant")
    request = getattr(api, kind)
    first = request(**ANA)
    job = claim(api)
    say(api, "user", "assistant")
    assert request(**ANA) == first
    assert open_jobs(api) == [kind]
    api.complete_job(**lease(job), result=result_of(job))
    follower = claim(api)
    assert follower.job_id != first
    assert [message["seq"] for message in follower.payload["messages"]] == [2, 3]


@pytest.mark.feature("F6")
def test_a_retry_answers_a_request_made_during_the_attempt_before(api: Api) -> None:
    queued(api)
    job = claim(api)
    queued(api)
    api.fail_job(**lease(job), error="x", retry_after="0")
    again = claim(api)
    assert len(again.payload["messages"]) == 2
    api.complete_job(**lease(again), result={"memories": []})
    assert open_jobs(api) == []


@pytest.mark.feature("F6")
def test_a_worker_gets_the_kinds_it_asks_for(api: Api) -> None:
    say(api, "user", "assistant")
    api.extract_memories(**ANA)
    api.summarize_thread(**ANA)
    assert claim(api, max_jobs=10, kinds=["summarize_thread"]).kind == "summarize_thread"
    assert api.claim_jobs(worker="test", kinds=["summarize_thread"]) == []
    assert claim(api, max_jobs=10, kinds=["extract_memories", "summarize_thread"]).kind == "extract_memories"


@pytest.mark.feature("F6")
def test_no_more_jobs_are_handed_out_than_asked_for_the_longest_waiting_first(api: Api) -> None:
    for number in range(5):
        api.add_message(user_id="ana", thread_id=f"t{number}", role="user", content="Hello")
        api.extract_memories(user_id="ana", thread_id=f"t{number}")
    api.connection.execute("update memory.jobs set run_after = now() - interval '1 hour' where scope = 't3'")
    threads = [[job.payload["thread_id"] for job in api.claim_jobs(worker="test", max_jobs=n)] for n in (1, 2, 1)]
    assert threads == [["t3"], ["t0", "t1"], ["t2"]]


@pytest.mark.feature("F6")
def test_jobs_with_nothing_to_do_do_not_hide_the_others(api: Api) -> None:
    jobs = []
    for number in range(5):
        api.add_message(user_id="ana", thread_id=f"t{number}", role="user", content="Hello")
        jobs.append(api.extract_memories(user_id="ana", thread_id=f"t{number}"))
    api.connection.execute("update memory.messages set is_active = false where thread_id < 't4'")
    assert claim(api).job_id == jobs[4]
    assert [api.get_job(user_id="ana", job_id=job).result for job in jobs[:4]] == [{"skipped": "nothing new"}] * 4


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
    """Whole, they would be more than a jsonb array holds."""
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
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread"])
def test_long_contents_and_names_are_cut(api: Api, kind: str) -> None:
    api.add_message(**ANA, role="user", content="é" * 65_537, metadata={"name": "é" * 256})
    getattr(api, kind)(**ANA)
    [message] = claim(api).payload["messages"]
    assert (message["content"], message["name"]) == ("é" * 65_536, "é" * 255)


@pytest.mark.feature("F6")
def test_a_job_before_its_time_is_not_handed_out(api: Api) -> None:
    queued(api)
    api.connection.execute("update memory.jobs set run_after = now() + interval '1 minute'")
    assert api.claim_jobs(worker="test") == []


@pytest.mark.feature("F6")
def test_a_job_of_someone_else_is_unknown(api: Api) -> None:
    job_id = queued(api)
    for function in ("get_job", "retry_job"):
        with refused("job_id", "P0002"):
            getattr(api, function)(user_id="bob", job_id=job_id)


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


@pytest.mark.feature("D10")
def test_appending_waits_for_no_job(api: Api) -> None:
    settings(api, cadence={"fact_extraction_every_n": 1}, summary={"start_seq": 0})
    say(api, "user", "assistant")
    assert len(api.claim_jobs(worker="slow", max_jobs=10)) == 2
    api.connection.execute("set lock_timeout = '100ms'")
    assert say(api, "user", "assistant") == 3


@pytest.mark.feature("B6")
def test_a_sweep_does_not_read_jobs_that_finished_recently(api: Api) -> None:
    api.connection.execute(
        "insert into memory.jobs (user_id, kind, scope, status, finished_at) "
        "select 'ana', 'extract_memories', 't' || n, 'completed', now() from generate_series(1, 1000) as n"
    )
    assert api.entries_read(api.sweep) < 100


# Results that must be refused -----------------------------------------------------------------------------------------

HOSTILE_MEMORIES: dict[str, Any] = {
    "not an object": "Likes tea",
    "null": None,
    "a list": [FACT],
    "no content": {**FACT, "content": None},
    "empty content": {**FACT, "content": ""},
    "blank content": {**FACT, "content": " \t\n"},
    "content of a wrong type": {**FACT, "content": ["Likes tea"]},
    "10 MB of content": {**FACT, "content": "x" * 10_000_000},
    "no type": {**FACT, "memory_type": None},
    "unknown type": {**FACT, "memory_type": "opinion"},
    "type of a wrong type": {**FACT, "memory_type": {"fact": True}},
    "confidence above 1": {**FACT, "confidence": 1.5},
    "negative confidence": {**FACT, "confidence": -1},
    "huge confidence": {**FACT, "confidence": 10**400},
    "confidence as text": {**FACT, "confidence": "NaN"},
    "confidence in a list": {**FACT, "confidence": [0.5]},
    "huge importance": {**FACT, "importance": 10**400},
    "importance as a boolean": {**FACT, "importance": True},
    "no seqs": {"content": "Likes tea", "memory_type": "fact"},
    "seqs that are no list": {**FACT, "seqs": 0},
    "a huge seq": {**FACT, "seqs": [10**30]},
    "half a seq": {**FACT, "seqs": [0.5]},
    "a seq as text": {**FACT, "seqs": ["0"]},
    "a seq in a list": {**FACT, "seqs": [[0]]},
    "a null seq": {**FACT, "seqs": [None]},
}


@pytest.mark.feature("F6")
@pytest.mark.parametrize("hostile", HOSTILE_MEMORIES)
def test_one_bad_memory_makes_the_whole_extraction_refused(api: Api, hostile: str) -> None:
    queued(api, messages=3)
    job = claim(api)
    before = api.state()
    with refused("result"):
        api.complete_job(**lease(job), result={"memories": [FACT, HOSTILE_MEMORIES[hostile]]})
    assert api.state() == before
    assert api.fail_job(**lease(job), error="not what was asked for") == "pending"


@pytest.mark.feature("F6")
@pytest.mark.parametrize("seqs", [[], [3], [0, 3], [-1], [10**15]], ids=str)
def test_a_memory_without_evidence_in_the_input_is_refused_and_counted(api: Api, seqs: list[int]) -> None:
    job_id = queued(api, messages=3)
    job = claim(api)
    queued(api)  # message 3 was not in the input
    api.complete_job(**lease(job), result={"memories": [FACT, {**FACT, "content": "Likes gin", "seqs": seqs}]})
    assert api.get_job(user_id="ana", job_id=job_id).result == {
        "inserted": 1,
        "duplicates": 0,
        "refused": 1,
        "through_seq": 2,
    }
    assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Likes tea"]


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "result",
    [
        None,
        Jsonb(None),
        [],
        "text",
        {},
        {"memories": None},
        {"memories": {}},
        {"memories": "Likes tea"},
        {"facts": [FACT]},
        SUMMARY,
    ],
    ids=str,
)
def test_a_result_that_is_no_extraction_is_refused(api: Api, result: Any) -> None:
    queued(api)
    job = claim(api)
    before = api.state()
    with refused("result"):
        api.complete_job(
            **lease(job),
            result=result if result is None else Jsonb(result) if not isinstance(result, Jsonb) else result,
        )
    assert api.state() == before


@pytest.mark.feature("F6")
@pytest.mark.parametrize(
    "result",
    [
        {},
        {"summary": None},
        {"summary": ""},
        {"summary": " \n"},
        {"summary": 5},
        {"summary": ["They talked."]},
        {"summary": "x" * 10_000_000},
        {**SUMMARY, "metadata": []},
        {**SUMMARY, "metadata": None},
        {**SUMMARY, "metadata": {"x": "y" * 10_000_000}},
        {**SUMMARY, "generation_time_ms": "12"},
        {**SUMMARY, "generation_time_ms": [12]},
        {**SUMMARY, "generation_time_ms": -1},
        {**SUMMARY, "generation_time_ms": 10**400},
    ],
    ids=lambda result: str(result)[:50],
)
def test_a_bad_summary_is_refused_whole(api: Api, result: dict[str, Any]) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job = claim(api)
    before = api.state()
    with refused("result"):
        api.complete_job(**lease(job), result=result)
    assert api.state() == before


@pytest.mark.feature("F6")
def test_what_nobody_asked_for_in_a_result_has_no_effect(api: Api) -> None:
    queued(api)
    extra = {
        "user_id": "bob",
        "memory_id": str(uuid4()),
        "superseded_by": str(uuid4()),
        "source": "user",
        "agent_id": "admin",
    }
    api.complete_job(**lease(claim(api)), result={"memories": [{**FACT, **extra}], "status": "dead", "delete": ["ana"]})
    assert api.query("select user_id, agent_id, source from memory.memories") == [("ana", "default", "extraction")]


@pytest.mark.feature("F6")
def test_a_tiny_number_is_a_number(api: Api) -> None:
    queued(api)
    api.complete_job(**lease(claim(api)), result=Jsonb({"memories": [{**FACT, "confidence": 1e-300, "importance": 1}]}))
    assert api.query("select confidence, importance from memory.memories") == [(0, 1)]


@pytest.mark.feature("F6")
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread"])
def test_a_result_is_stored_whatever_strings_mean_in_the_session(
    connect: Callable[..., psycopg.Connection], kind: str
) -> None:
    api = Api(connect(options=OLD_STRINGS))
    say(api, "user")
    job_id = getattr(api, kind)(**ANA)
    api.complete_job(**lease(claim(api)), result={"memories": [FACT], **SUMMARY})
    assert status(api, job_id) == "completed"


@pytest.mark.feature("F6", "D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread"])
def test_a_result_about_messages_that_are_gone_is_dropped(api: Api, kind: str, function: str) -> None:
    api.talk(**ANA, rounds=3)
    getattr(api, kind)(**ANA)
    job = claim(api, kinds=[kind])
    getattr(api, function)(**ANA)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(job), result=result_of(job, memory="Likes tea"))
    assert (
        api.query(
            "select from memory.memories union all select from memory.summaries union all select from memory.jobs"
        )
        == []
    )


# The words of what was read -----------------------------------------------------------------------------------------


def parsed(api: Api) -> list[int]:
    """The messages whose words are kept."""
    return [
        row.seq for row in api.query("select seq from memory.messages where search_vector is not null order by seq")
    ]


@pytest.mark.feature("E4", "A5")
@pytest.mark.parametrize(
    "counts", [{}, {"token_counts": {"0": 7, "1": 8}, "token_counter": "dice"}], ids=["uncounted", "counted"]
)
@pytest.mark.parametrize("kind", ["extract_memories", "summarize_thread", "compress_thread"])
def test_a_job_keeps_the_words_of_what_it_read_where_it_keeps_token_counts(
    api: Api, kind: str, counts: dict[str, Any]
) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, compression={"recent_messages_to_keep": 1})
    api.talk(**ANA, rounds=1)
    getattr(api, kind)(**ANA)
    job = claim(api)
    say(api, "user")
    before = api.list_threads(user_id="ana")[0].active_tokens
    result = {"skipped": "below"} if kind == "compress_thread" else result_of(job)
    updated = "select pg_stat_get_xact_tuples_updated('memory.messages'::regclass)"
    with api.connection.transaction():
        api.complete_job(**lease(job), result=result | counts)
        assert api.value(updated) == len(parsed(api)) > 0
    assert parsed(api) == [0, 1]
    exact = [row.seq for row in api.query("select seq from memory.messages where is_counted order by seq")]
    assert exact == (parsed(api) if counts else [])
    assert (api.list_threads(user_id="ana")[0].active_tokens != before) == bool(counts)


@pytest.mark.feature("E4", "A5")
def test_what_a_job_puts_away_is_not_parsed(api: Api) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, compression={"recent_messages_to_keep": 1})
    api.talk(**ANA, rounds=2)
    api.compress_thread(**ANA)
    job = claim(api)
    counts = {str(seq): 7 for seq in range(4)}
    api.complete_job(**lease(job), result={**SUMMARY, "token_counts": counts, "token_counter": "dice"})
    stored = api.query("select is_active, search_vector is not null, is_counted from memory.messages order by seq")
    assert [is_active for is_active, _, _ in stored] == [False, False, False, True]
    assert not any(is_parsed for is_active, is_parsed, _ in stored if not is_active)
    assert all(is_counted for is_active, _, is_counted in stored if not is_active)


@pytest.mark.feature("E4")
def test_embedding_writes_no_messages(api: Api) -> None:
    api.register_model(name="ada", kind="embedding", provider="openai", model="ada")
    api.activate_model(name="ada")
    say(api, "user")
    api.complete_job(**lease(claim(api, kinds=["embed"])), result={"embeddings": [[1, 2, 3]]})
    assert (parsed(api), api.value("select count(*) from memory.embeddings")) == ([], 1)


@pytest.mark.feature("E4", "F6")
def test_a_job_skips_the_words_of_what_someone_is_changing(
    api: Api, connect: Callable[..., psycopg.Connection]
) -> None:
    queued(api, messages=3)
    job = claim(api)
    hasty = Api(connect(options="-c statement_timeout=1s"))
    with api.connection.transaction():
        api.connection.execute("update memory.messages set metadata = '{\"a\": 1}' where seq = 1")
        hasty.complete_job(**lease(job), result={"memories": []})
        assert parsed(hasty) == [0, 2]
    assert parsed(api) == [0, 1, 2]


# Extraction -----------------------------------------------------------------------------------------------------------


@pytest.mark.feature("B9")
@pytest.mark.parametrize(
    ("cadence", "jobs_at"),
    [
        ({}, [9, 19, 29]),
        ({"fact_extraction_every_n": 4}, [3, 7, 11, 15, 19, 23, 27]),
        ({"fact_extraction_every_n": 0}, []),
    ],
)
def test_memories_are_extracted_after_every_n_messages(api: Api, cadence: dict[str, int], jobs_at: list[int]) -> None:
    settings(api, summary={"enabled": False}, cadence=cadence)
    seen = []
    for seq in range(30):
        say(api, "user" if seq % 2 == 0 else "assistant")
        if api.finish_jobs():
            seen.append(seq)
    assert seen == jobs_at


@pytest.mark.feature("B9")
@pytest.mark.parametrize(
    ("first", "second", "jobs"), [(9, 1, 1), (5, 4, 0), (3, 25, 1), (10, 9, 0), (12, 8, 1), (12, 7, 0)]
)
def test_a_batch_counts_like_single_messages(api: Api, first: int, second: int, jobs: int) -> None:
    extraction_only(api)
    for count in (first, second):
        api.finish_jobs()
        api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * count)
    assert len(api.claim_jobs(worker="test", max_jobs=10)) == jobs


@pytest.mark.feature("B9")
def test_the_cadence_counts_each_thread_for_itself(api: Api) -> None:
    extraction_only(api)
    for thread_id in ("t1", "t2"):
        api.add_messages(user_id="ana", thread_id=thread_id, messages=[{"role": "user", "content": "Hello"}] * 9)
    assert open_jobs(api) == []


@pytest.mark.feature("B9", "E15")
def test_no_message_is_extracted_twice_and_none_is_left_out(api: Api) -> None:
    extraction_only(api)
    read: list[int] = []
    for number in range(60):
        say(api, "user")
        if number % 7 == 0:
            api.extract_memories(**ANA)
        for job in api.claim_jobs(worker="test", max_jobs=10):
            if number % 3 == 0:
                api.fail_job(**lease(job), error="try again", retry_after="0")
                job = claim(api)
            read += [message["seq"] for message in job.payload["messages"]]
            api.complete_job(**lease(job), result={"memories": []})
    assert read == list(range(60))
    assert api.value("select extracted_seq from memory.thread_stats") == 59


@pytest.mark.feature("B9")
def test_what_arrives_during_an_extraction_is_read_by_the_next(api: Api) -> None:
    extraction_only(api)
    queued(api, messages=10)
    job = claim(api)
    api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * 10)
    assert api.claim_jobs(worker="test") == []
    api.complete_job(**lease(job), result={"memories": []})
    assert [message["seq"] for message in claim(api).payload["messages"]] == list(range(10, 20))


@pytest.mark.feature("B9")
def test_a_long_backlog_is_read_in_parts_of_200(api: Api) -> None:
    extraction_only(api)
    queued(api, messages=450)
    parts = []
    while jobs := api.claim_jobs(worker="test"):
        parts.append([message["seq"] for message in jobs[0].payload["messages"]])
        api.complete_job(**lease(jobs[0]), result={"memories": []})
    assert [len(part) for part in parts] == [200, 200, 50]
    assert [seq for part in parts for seq in part] == list(range(450))


@pytest.mark.feature("B9")
@pytest.mark.parametrize(
    ("requests", "expected"), [([2], 2), ([None, 2], 5), ([2, None], 5), ([2, 4], 4), ([4, 2], 4), ([99], 5)]
)
def test_recent_k_limits_what_is_read_to_the_widest_request(
    api: Api, requests: list[int | None], expected: int
) -> None:
    api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}] * 5)
    assert len({api.extract_memories(**ANA, recent_k=recent_k) for recent_k in requests}) == 1
    assert [message["seq"] for message in claim(api).payload["messages"]] == list(range(5 - expected, 5))


@pytest.mark.feature("B9", "E8")
def test_recent_k_does_not_cut_off_a_backlog_that_is_being_read(api: Api) -> None:
    extraction_only(api)
    queued(api, messages=250)
    first = claim(api)
    api.extract_memories(**ANA, recent_k=1)
    api.complete_job(**lease(first), result={"memories": []})
    assert [message["seq"] for message in claim(api).payload["messages"]] == list(range(200, 250))


@pytest.mark.feature("B9", "A2")
def test_expired_messages_are_not_extracted(api: Api) -> None:
    api.add_message(**ANA, role="user", content="over", expires_at="2020-01-01")
    api.extract_memories(**ANA)
    assert api.claim_jobs(worker="test") == []


# Rolling summaries ----------------------------------------------------------------------------------------------------


def expected_window(last_saved_seq: int, window_size: int = 14) -> tuple[int, int]:
    """The window, computed independently."""
    end_seq = last_saved_seq
    start_seq = max(0, end_seq - window_size + 1)
    if start_seq % 2 != 0:
        start_seq = start_seq + 1
    return start_seq, end_seq


@pytest.mark.feature("D3")
@pytest.mark.parametrize(("last_seq", "expected"), [(5, (0, 5)), (13, (0, 13)), (15, (2, 15)), (19, (6, 19))])
def test_the_window_starts_at_an_even_message(api: Api, last_seq: int, expected: tuple[int, int]) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=(last_seq + 1) // 2)
    payload = claim(api).payload
    assert (payload["start_seq"], payload["end_seq"]) == expected
    assert [message["seq"] for message in payload["messages"]] == list(range(expected[0], expected[1] + 1))


@pytest.mark.feature("D1", "D3", "D4", "D5")
@pytest.mark.parametrize("window_size", [14, 2, 5])
def test_the_window_moves_with_the_conversation_and_each_summary_continues_the_one_before(
    api: Api, window_size: int
) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, summary={"window_size": window_size})
    previous = None
    for last_seq in range(1, 31, 2):
        assert say(api, "user", "assistant") == last_seq
        if last_seq < 5:
            assert api.claim_jobs(worker="test") == []
            continue
        job = claim(api)
        start_seq, end_seq = expected_window(last_seq, window_size)
        assert (job.payload["start_seq"], job.payload["end_seq"]) == (start_seq, end_seq)
        new_from = start_seq if previous is None else max(start_seq, previous.end_seq + 1)
        assert [message["seq"] for message in job.payload["messages"]] == list(range(new_from, end_seq + 1))
        assert job.payload["previous_summary"] == (previous and previous.summary)
        api.complete_job(
            **lease(job), result={"summary": f"Up to {last_seq}", "metadata": {"n": last_seq}, "generation_time_ms": 7}
        )
        [stored] = api.get_thread_summary(**ANA)
        assert (stored.summary, stored.start_seq, stored.end_seq) == (f"Up to {last_seq}", start_seq, end_seq)
        assert (stored.status, stored.metadata, stored.generation_time_ms) == ("completed", {"n": last_seq}, 7)
        assert stored.base_summary_id == (previous and previous.summary_id)
        previous = stored


@pytest.mark.feature("D2")
@pytest.mark.parametrize(
    ("roles", "jobs"),
    [
        ("user assistant user assistant user assistant", 1),
        ("user assistant user assistant user", 0),
        ("user assistant user assistant user user", 0),
        ("user assistant user assistant", 0),
        ("system user assistant user assistant assistant", 1),
    ],
)
def test_a_finished_round_from_the_start_on_starts_a_summary(api: Api, roles: str, jobs: int) -> None:
    summary_only(api)
    say(api, *roles.split())
    assert len(open_jobs(api)) == jobs


@pytest.mark.feature("D2")
def test_a_round_is_not_finished_by_a_call_of_a_tool(api: Api) -> None:
    summary_only(api)
    say(api, *["user", "assistant"] * 2, "user")
    say(api, "assistant", tool_calls=[{"id": "1", "function": {"name": "f", "arguments": "{}"}}])
    say(api, "tool")
    assert open_jobs(api) == []
    say(api, "assistant")
    assert open_jobs(api) == ["summarize_thread"]


@pytest.mark.feature("D1", "D2")
@pytest.mark.parametrize(("summary", "jobs"), [({"enabled": False}, 0), ({"start_seq": 20}, 0), ({"start_seq": 3}, 1)])
def test_the_policy_says_whether_and_from_where_summaries_start(api: Api, summary: dict[str, Any], jobs: int) -> None:
    settings(api, cadence={"fact_extraction_every_n": 0}, summary=summary)
    api.talk(**ANA, rounds=2 if "start_seq" in summary else 5)
    assert len(open_jobs(api)) == jobs


@pytest.mark.feature("D1")
def test_the_policy_names_the_model_of_summaries(api: Api) -> None:
    api.register_model(name="mini", kind="chat", provider="openai", model="gpt-4.1-mini", settings={"temperature": 0})
    settings(api, summary={"model": "mini"})
    api.talk(**ANA, rounds=3)
    api.extract_memories(**ANA)
    models = {job.kind: job.payload["model"]["name"] for job in api.claim_jobs(worker="test", max_jobs=10)}
    assert models == {"summarize_thread": "mini", "extract_memories": "local"}


@pytest.mark.feature("D2", "D5")
def test_no_second_summary_starts_while_one_is_being_made(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job = claim(api)
    assert summaries(api) == [(0, 5, "processing")]
    api.talk(**ANA, rounds=1)
    assert api.claim_jobs(worker="other") == []
    api.complete_job(**lease(job), result=SUMMARY)
    assert open_jobs(api) == []
    api.talk(**ANA, rounds=1)
    claim(api)
    assert summaries(api) == [(0, 5, "completed"), (0, 9, "processing")]


@pytest.mark.feature("D5")
def test_the_database_allows_one_processing_summary_per_thread(api: Api) -> None:
    api.talk(**ANA, rounds=3)
    claim(api)
    with pytest.raises(errors.UniqueViolation, match="summaries_one_processing_idx"):
        api.connection.execute(
            "insert into memory.summaries (user_id, summary_id, kind, thread_id, start_seq, end_seq) "
            "values ('ana', gen_random_uuid(), 'rolling', 't1', 0, 1)"
        )


@pytest.mark.feature("D5")
def test_a_summary_is_failed_when_its_job_is_dead_and_a_retry_makes_a_new_one(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    job_id = claim_and_die(api).job_id
    for _ in range(4):
        assert summaries(api) == [(0, 5, "processing")]
        job = claim(api)
        api.fail_job(**lease(job), error="no", retry_after="0")
    assert summaries(api) == [(0, 5, "failed")]
    assert api.get_thread_summary(**ANA) == []
    api.retry_job(user_id="ana", job_id=job_id)
    api.complete_job(**lease(claim(api)), result=SUMMARY)
    assert sorted(summaries(api)) == [(0, 5, "completed"), (0, 5, "failed")]


@pytest.mark.feature("D9")
def test_a_summary_whose_worker_died_is_made_once_with_the_window_of_now(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    dead = claim_and_die(api)
    api.talk(**ANA, rounds=1)
    again = claim(api, worker="other")
    assert (again.job_id, again.attempt, again.payload["end_seq"]) == (dead.job_id, 2, 7)
    with refused("lease_token", "AM001"):
        api.complete_job(**lease(dead), result={"summary": "Too late"})
    api.complete_job(**lease(again), result=SUMMARY)
    assert summaries(api) == [(0, 7, "completed")]


@pytest.mark.feature("D5")
def test_no_summary_stays_processing_when_nothing_is_left_to_summarise(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    claim_and_die(api)
    api.connection.execute("update memory.messages set expires_at = '2020-01-01'")
    assert api.claim_jobs(worker="test") == []
    assert (open_jobs(api), summaries(api)) == ([], [])


@pytest.mark.feature("D2", "D3")
def test_a_question_being_answered_waits_for_the_next_summary(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    say(api, "user")
    assert claim(api).payload["end_seq"] == 5


@pytest.mark.feature("D2", "E15")
def test_a_thread_without_rounds_can_be_summarised_on_demand(api: Api) -> None:
    say(api, "user", "user", "user")
    job_id = api.summarize_thread(**ANA)
    job = claim(api)
    assert (job.job_id, job.payload["start_seq"], job.payload["end_seq"]) == (job_id, 0, 2)


@pytest.mark.feature("E15")
def test_a_summary_with_nothing_new_costs_no_model_call(api: Api) -> None:
    summary_only(api)
    api.talk(**ANA, rounds=3)
    assert api.finish_jobs() == 1
    job_id = api.summarize_thread(**ANA)
    assert api.claim_jobs(worker="test") == []
    assert api.get_job(user_id="ana", job_id=job_id).result == {"skipped": "nothing new"}


@pytest.mark.feature("D4")
def test_the_chain_shows_windows_predecessors_and_times(api: Api) -> None:
    summary_only(api)
    for _ in range(2):
        api.talk(**ANA, rounds=4)
        api.complete_job(**lease(claim(api)), result={**SUMMARY, "generation_time_ms": 40})
    chain = api.query(
        "select base_end_seq, start_seq, end_seq, window_size, generation_time_ms from memory.summary_chain"
    )
    assert chain == [(None, 0, 7, 8, 40), (7, 2, 15, 14, 40)]
