"""Many jobs while models, runners and connections fail at random: each job takes effect once."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hostile_models.steps import HostileServer, name_of_prompt, tokens_entered
from tests.support.fake_model_server import DROPPED, SERVER_ERROR, TRUNCATED_JSON, Behaviour, RecordedRequest
from tests.support.runners import DatabaseRunner, WorkerRunner
from tests.support.servers import Server
from tests.support.sqlapi import Api

USERS = 25
SEED = 20240501
KINDS_OF_THREADS = ("extract_memories", "summarize_thread", "compress_thread")
CHAOS = (
    SERVER_ERROR,
    Behaviour(status=429, retry_after="30"),
    TRUNCATED_JSON,
    Behaviour(body='{"data": [{"embedding": [0.1'),
    DROPPED,
)


class ChaoticModel:
    """Fails one call in five, by a seed: the n-th call with the same input always has the same outcome.

    Whatever is about doom fails always.
    """

    def __init__(self) -> None:
        self._calls: Counter[str] = Counter()

    def __call__(self, request: RecordedRequest) -> Behaviour:
        text = json.dumps(request.body.get("input") or [request.user, name_of_prompt(request.body)])
        if "doom" in text:
            return SERVER_ERROR
        self._calls[text] += 1
        chance = random.Random(f"{SEED} {self._calls[text]} {text}")
        if chance.random() < 0.2:
            return chance.choice(CHAOS)
        return Behaviour(delay_seconds=chance.uniform(0.02, 0.2))


class Crew:
    """Two runners of each kind, killed and replaced again and again."""

    def __init__(self, server: Server, dsn: str, log_file: Path) -> None:
        kinds: list[Callable[[], DatabaseRunner | WorkerRunner]] = [lambda: WorkerRunner(dsn, log_file, "--lease", "3")]
        if server.has_plpython:
            kinds.append(lambda: DatabaseRunner(dsn))
        self._kinds = kinds * 2
        self._runners = [self._hire(place) for place in range(len(self._kinds))]
        self._chance = random.Random(SEED)
        self.killed: Counter[str] = Counter()

    def _hire(self, place: int) -> DatabaseRunner | WorkerRunner:
        runner = self._kinds[place]()
        runner.start()
        return runner

    def kill_one(self) -> None:
        place = self._chance.randrange(len(self._runners))
        runner = self._runners[place]
        if runner.is_working():
            how = "kill" if isinstance(runner, WorkerRunner) else self._chance.choice(["terminate", "cancel"])
            runner.stop(how)
            self.killed[how] += 1
        runner.close()
        self._runners[place] = self._hire(place)

    def wake(self) -> None:
        """A call in the database ends when it finds nothing to do for the moment."""
        for runner in self._runners:
            if not runner.is_working():
                runner.start()

    def close(self) -> None:
        for runner in self._runners:
            runner.close()


@pytest.mark.feature("F6", "F7", "D9")
@pytest.mark.nightly
def test_each_job_takes_effect_once_whatever_fails(
    server: Server, dsn: str, api: Api, fake: HostileServer, tmp_path: Path
) -> None:
    """Jobs of all kinds while every fifth call fails and runners die: kill -9, pg_terminate_backend, a cancel."""
    api.connection.execute("delete from memory.threads; delete from memory.memories")
    fake.behaviour = ChaoticModel()
    settings = {"base_url": fake.url, "dimensions": 32}
    api.register_model(name="vectors", kind="embedding", provider="openai", model="embed-fake", settings=settings)
    api.activate_model(name="vectors")
    for number in range(USERS):
        queue_all(api, f"u{number}", ("a", "b", "c"))
    queue_all(api, "doomed", ("doom",))

    crew = Crew(server, dsn, tmp_path / "workers.log")
    try:
        seconds = finish_all(api, crew)
    finally:
        crew.close()
    counts = api.query("select status, count(*), max(attempts) as most_attempts from memory.jobs group by 1 order by 1")
    print(f"{counts} in {seconds:.0f} s, {len(fake.requests)} calls, killed: {dict(crew.killed)}")

    check_jobs(api)
    check_extractions(api)
    check_summaries(api)
    check_ledger(api, fake)


def finish_all(api: Api, crew: Crew) -> float:
    """Do jobs until none is left; returns the seconds that took."""
    done = "select count(*) from memory.jobs where status = 'completed'"
    started = killed = time.monotonic()
    done_then = api.value(done)
    while open_jobs := api.value("select count(*) from memory.jobs where status in ('pending', 'running')"):
        assert time.monotonic() < started + 300, open_jobs
        skip_the_waiting(api)
        # On a busy machine a runner needs longer than a second to begin: before a kill a few jobs must have been done.
        if time.monotonic() >= killed + 1 and api.value(done) >= done_then + 5:
            crew.kill_one()
            killed, done_then = time.monotonic(), api.value(done)
        crew.wake()
        time.sleep(0.1)
    return time.monotonic() - started


def queue_all(api: Api, user_id: str, threads: tuple[str, ...]) -> None:
    """A job of each kind and for each thread; none of the user's words is anyone else's."""
    for thread_id in threads:
        words = [f"{user_id}{thread_id}{seq}" for seq in range(8)]
        messages = [
            {"role": role, "content": " ".join(f"{word}{letter}" for letter in "xyz")}
            for word, role in zip(words, ["user", "assistant"] * 4, strict=True)
        ]
        api.add_messages(user_id=user_id, thread_id=thread_id, messages=messages)
        for kind in KINDS_OF_THREADS:
            getattr(api, kind)(user_id=user_id, thread_id=thread_id)
    api.summarize_user(user_id=user_id)


def skip_the_waiting(api: Api) -> None:
    """For backoffs, rate limits, and the leases of sessions that ended before they could give their jobs back."""
    api.connection.execute(
        """
        with waiting as (
          select user_id, job_id from memory.jobs where status = 'pending' and run_after > now() for update skip locked
        )
        update memory.jobs as j set run_after = now()
        from waiting as w where (j.user_id, j.job_id) = (w.user_id, w.job_id)
        """
    )
    api.connection.execute(
        """
        with orphaned as (
          select user_id, job_id from memory.jobs
          where status = 'running' and worker like 'in-database runner, pid %'
            and substring(worker from '[0-9]+$')::int not in (select pid from pg_stat_activity) for update skip locked
        )
        update memory.jobs as j set lease_expires_at = now()
        from orphaned as o where (j.user_id, j.job_id) = (o.user_id, o.job_id)
        """
    )


def check_jobs(api: Api) -> None:
    assert api.query("select from memory.jobs where status = 'completed' and error is not null") == []
    for job in api.query("select * from memory.jobs where status = 'dead'"):
        assert job.error, job
        assert job.attempts == job.max_attempts, job
    dead = "select kind from memory.jobs where status = 'dead' and user_id like '%%doomed' order by kind"
    assert {*KINDS_OF_THREADS, "summarize_user"} <= {job.kind for job in api.query(dead)}
    # Bad luck five times in a row is rare; on a busy machine leases run out too.
    unlucky = api.value("select count(*) from memory.jobs where status = 'dead' and user_id not like '%%doomed'")
    assert unlucky <= 0.05 * api.value("select count(*) from memory.jobs")


def check_extractions(api: Api) -> None:
    """Each user message of a thread whose extraction was completed is one memory."""
    expected = """
        select m.user_id, m.thread_id, m.content, array[m.seq] as seqs from memory.messages as m
        join memory.jobs as j on j.user_id = m.user_id and j.scope = m.thread_id and j.kind = 'extract_memories'
        where j.status = 'completed' and m.role = 'user' order by 1, 2, 3
    """
    found = """
        select user_id, thread_id, content, source_seqs as seqs from memory.memories
        where source = 'extraction' and thread_id is not null and superseded_at is null order by 1, 2, 3
    """
    assert api.query(found) == api.query(expected)
    assert api.query("select from memory.memories where thread_id is not null and superseded_at is not null") == []


def check_summaries(api: Api) -> None:
    """Each completed job has made one summary, which has each message once; compressed messages are put away."""
    made = """
        select s.summary_id from memory.summaries as s where s.status = 'completed' order by 1
    """
    results = """
        select (result ->> 'summary_id')::uuid as summary_id from memory.jobs
        where status = 'completed' and kind in ('summarize_thread', 'compress_thread', 'summarize_user') order by 1
    """
    assert api.query(made) == api.query(results)
    assert api.query("select from memory.summaries where status = 'processing'") == []
    for row in api.query("select * from memory.summaries where status = 'completed'"):
        messages = api.query(
            "select * from memory.messages"
            " where user_id = %(user_id)s and %(thread_id)s in ('', thread_id) order by seq",
            user_id=row.user_id,
            thread_id=row.thread_id,
        )
        given = [message for message in messages if row.kind == "user" or message.seq <= row.end_seq]
        assert [row.summary.count(message.content) for message in given] == [1] * len(given), row
        if row.kind == "thread":
            assert [message.is_active for message in messages] == [False] * 6 + [True] * 2
            assert {message.summary_id for message in messages} == {row.summary_id, None}


def check_ledger(api: Api, fake: HostileServer) -> None:
    """A completed job has a call that went well; no call is entered that was not made."""
    unpaid = """
        select j.* from memory.jobs as j where j.status = 'completed' and not j.result ? 'skipped'
          and not exists (select from memory.model_calls as c where c.job_id = j.job_id and c.error is null)
    """
    assert api.query(unpaid) == []
    calls = api.value("select count(*) from memory.model_calls where tokens_in is not null")
    assert calls <= len(fake.requests)
    tokens_in, tokens_out = tokens_entered(api)
    assert tokens_in <= fake.tokens_in
    assert tokens_out <= fake.tokens_out
