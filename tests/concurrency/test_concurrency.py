"""Many clients at once, each with a connection of its own: nothing is lost, doubled, miscounted or deadlocked."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import suppress
from typing import Any, TypeVar

import psycopg
import pytest

from tests.support.sqlapi import Api, result_of

CLIENTS = 8
ANA = {"user_id": "ana", "thread_id": "t1"}
HELLO = {"role": "user", "content": "Hello there"}

WRONG_THREADS = """
select t.*, stored.* from memory.threads as t
cross join lateral (
  select count(*) filter (where m.is_active), coalesce(sum(m.token_count) filter (where m.is_active), 0),
    coalesce(max(m.seq), -1)
  from memory.messages as m where m.user_id = t.user_id and m.thread_id = t.thread_id
) as stored (messages, tokens, last_seq)
where (t.message_count, t.active_tokens) <> (stored.messages, stored.tokens) or t.next_seq <= stored.last_seq
"""
WRONG_SCOPES = """
select s.*, stored.memories from memory.memory_scopes as s
cross join lateral (
  select count(*) from memory.memories as m
  where m.user_id = s.user_id and m.agent_id = s.agent_id and m.superseded_at is null and m.deleted_at is null
) as stored (memories)
where s.memory_count <> stored.memories
"""

Connect = Callable[..., psycopg.Connection]
Result = TypeVar("Result")


@pytest.fixture
def clients(connect: Connect) -> Callable[[], list[Api]]:
    """Opens the connections of all clients; a deadlock, if there is one, is reported at once."""

    def open_clients() -> list[Api]:
        return [Api(connect(options="-c deadlock_timeout=50ms")) for _ in range(CLIENTS)]

    return open_clients


def at_once(clients: list[Api], work: Callable[[Api, int], Result]) -> list[Result]:
    """What ``work(client, number)`` returns for each client, all started together; raises what any of them raises."""
    start = threading.Barrier(len(clients))

    def run(number: int) -> Result:
        start.wait(10)
        return work(clients[number], number)

    with ThreadPoolExecutor(len(clients)) as pool:
        return list(pool.map(run, range(len(clients))))


def assert_counters_are_exact(api: Api) -> None:
    assert api.query(WRONG_THREADS) == []
    assert api.query(WRONG_SCOPES) == []


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


@pytest.mark.feature("E12")
def test_the_same_memories_from_all_clients_are_stored_once(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    def add(api: Api, number: int) -> list[tuple[Any, bool]]:
        wordings = (f"Fact {n}" if number % 2 else f" fact  {n} " for n in range(30))
        return [tuple(api.add_memory(user_id="ana", content=content)) for content in wordings]

    answers = at_once(clients(), add)
    assert all(len({memory_id for memory_id, _ in same}) == 1 for same in zip(*answers, strict=True))
    assert all(sum(inserted for _, inserted in same) == 1 for same in zip(*answers, strict=True))
    assert Api(db).query("select memory_count, duplicates_skipped from memory.memory_scopes") == [
        (30, 30 * (CLIENTS - 1))
    ]


@pytest.mark.feature("E14")
def test_one_idempotency_key_stores_one_message(clients: Callable[[], list[Api]], db: psycopg.Connection) -> None:
    def append(api: Api, number: int) -> list[int]:
        if number % 2:
            messages = [{**HELLO, "idempotency_key": f"key {n}"} for n in range(20)]
            return [row.seq for row in api.add_messages(**ANA, messages=messages)]
        return [api.add_message(**ANA, **HELLO, idempotency_key=f"key {n}").seq for n in range(20)]

    seqs = at_once(clients(), append)
    assert seqs == [seqs[0]] * CLIENTS
    assert sorted(seqs[0]) == list(range(20))
    assert_counters_are_exact(Api(db))


@pytest.mark.feature("F6")
def test_no_job_is_claimed_by_two_workers(clients: Callable[[], list[Api]], db: psycopg.Connection) -> None:
    api = Api(db)
    jobs = set()
    for number in range(100):
        api.add_message(user_id=f"user {number}", thread_id="t1", **HELLO)
        jobs.add((f"user {number}", api.extract_memories(user_id=f"user {number}", thread_id="t1")))

    def work(api: Api, number: int) -> list[tuple[str, int]]:
        done = []
        while claimed := api.claim_jobs(worker=f"w{number}", max_jobs=number % 3 + 1):
            assert len(claimed) <= number % 3 + 1
            for job in claimed:
                memory = {"content": "Said hello", "memory_type": "fact", "seqs": [0]}
                api.complete_job(
                    user_id=job.user_id, job_id=job.job_id, lease_token=job.lease_token, result={"memories": [memory]}
                )
                done.append((job.user_id, job.job_id))
        return done

    done = list(itertools.chain(*at_once(clients(), work)))
    # A worker may find the last jobs locked by another one and stop: what is done is done once, and nothing is left.
    assert sorted(done) == sorted(jobs)
    assert api.query("select count(*), count(distinct user_id) as users from memory.memories") == [(100, 100)]


@pytest.mark.feature("F6", "D9")
def test_of_two_completions_of_one_lease_one_is_applied(
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


# One after the other --------------------------------------------------------------------------------------------------


@pytest.fixture
def meanwhile(connect: Connect) -> Iterator[Callable[[Api, Callable[[Api], Any]], Future[Any]]]:
    """Start a call in another session and go on as soon as it waits for a lock (or is over)."""
    watcher = Api(connect())
    with ThreadPoolExecutor() as pool:

        def start(other: Api, call: Callable[[Api], Any]) -> Future[Any]:
            future = pool.submit(call, other)
            until_blocked(watcher, other, future)
            return future

        yield start


Meanwhile = Callable[[Api, Callable[[Api], Any]], "Future[Any]"]


def until_blocked(watcher: Api, client: Api, call: Future[Any]) -> None:
    """Return when the client waits for a lock, or its call is over."""
    blockers = "select cardinality(pg_blocking_pids(%(pid)s))"
    deadline = time.monotonic() + 10
    while not call.done() and not watcher.value(blockers, pid=client.connection.info.backend_pid):
        assert time.monotonic() < deadline


def extraction(api: Api) -> dict[str, Any]:
    """The lease of an extraction of the one message of a thread."""
    api.add_message(**ANA, **HELLO)
    api.extract_memories(**ANA)
    [job] = api.claim_jobs(worker="w")
    return {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}


@pytest.mark.feature("D11")
def test_a_thread_deleted_during_its_first_extraction_is_extracted_anew_when_it_returns(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    api = Api(db)
    lease = extraction(api)
    with db.transaction():
        api.complete_job(**lease, result={"memories": []})
        deleted = meanwhile(Api(connect()), lambda other: other.delete_thread(**ANA))
    assert deleted.result(10) == 1
    assert api.query("select from memory.marks where scope <> ''") == []
    extraction(api)


@pytest.mark.feature("D11")
def test_a_thread_deleted_during_an_extraction_leaves_no_memory_of_swept_messages_behind(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    api = Api(db)
    lease = extraction(api)
    db.execute("update memory.messages set expires_at = now()")
    assert api.sweep()["messages"] == 1
    with db.transaction():
        api.complete_job(**lease, result={"memories": [{"content": "Said hello", "memory_type": "fact", "seqs": [0]}]})
        deleted = meanwhile(Api(connect()), lambda other: other.delete_thread(**ANA))
    assert deleted.result(10) == 0
    assert api.query("select from memory.memories") == []


@pytest.mark.feature("E14")
def test_a_transaction_that_appends_and_then_remembers_does_not_deadlock_with_a_deletion(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    api = Api(db)
    api.add_message(**ANA, **HELLO)
    api.add_memory(user_id="ana", content="Likes tea")
    with db.transaction():
        api.add_message(**ANA, **HELLO)
        deleted = meanwhile(Api(connect()), lambda other: other.delete_thread(**ANA))
        api.add_memory(user_id="ana", content="Said hello")
    assert deleted.result(10) == 2


@pytest.mark.feature("E14")
def test_a_transaction_that_asks_for_a_compression_and_then_appends_does_not_deadlock_with_one_being_stored(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    api, worker = Api(db), Api(connect(options="-c deadlock_timeout=50ms"))
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 2}})
    api.talk(**ANA, rounds=3)
    api.compress_thread(**ANA)
    [job] = worker.claim_jobs(worker="w", kinds=["compress_thread"])
    lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
    with db.transaction():
        api.compress_thread(**ANA)
        stored = meanwhile(worker, lambda worker: worker.complete_job(**lease, result=result_of(job)))
        api.add_message(**ANA, **HELLO)
    stored.result(10)
    assert [row.seq for row in api.get_messages(**ANA)] == [4, 5, 6]


def test_deleting_a_thread_that_is_not_there_waits_for_nobody_and_changes_nothing(
    db: psycopg.Connection, connect: Connect
) -> None:
    api = Api(db)
    before = api.state()
    other = Api(connect(options="-c lock_timeout=1s"))
    with db.transaction(force_rollback=True):
        api.add_message(**ANA, **HELLO)
        api.add_memory(user_id="ana", content="Likes tea")
        assert other.delete_thread(user_id="ana", thread_id="t2") == 0
    assert api.state() == before


@pytest.mark.feature("E14")
def test_callers_of_one_key_who_waited_for_a_deletion_get_one_message(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    api = Api(db)
    api.add_message(**ANA, **HELLO)

    def append(caller: Api) -> int:
        caller.connection.execute("begin")
        seq: int = caller.add_message(**ANA, role="user", content="Hello again", idempotency_key="key").seq
        return seq

    callers = [Api(connect()), Api(connect())]
    with db.transaction():
        db.execute("select from memory.threads for update")  # as delete_thread() does first of all
        calls = {meanwhile(caller, append): caller for caller in callers}
        api.delete_thread(**ANA)
    [first] = wait(calls, timeout=10, return_when=FIRST_COMPLETED).done
    [second] = calls.keys() - {first}
    until_blocked(api, calls[second], second)
    calls[first].connection.execute("commit")
    assert (first.result(), second.result(10)) == (0, 0)
    calls[second].connection.execute("commit")
    assert api.query("select content from memory.messages") == [("Hello again",)]


@pytest.mark.feature("F3", "B8")
def test_no_limit_takes_what_another_restores_at_the_same_time(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile
) -> None:
    """The memory is of another agent than the one whose memory hid it."""
    api = Api(db)
    api.set_policy(settings={"memories": {"max_per_agent": 1}}, agent_id="a")
    old = api.add_memory(user_id="ana", agent_id="b", content="Likes tea", importance=0.1).memory_id
    new = api.add_memory(user_id="ana", agent_id="a", content="Likes coffee", importance=0.1).memory_id
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    with db.transaction():
        api.restore_memory(user_id="ana", memory_id=old)
        adding = meanwhile(Api(connect()), lambda other: other.add_memory(user_id="ana", agent_id="a", content="Tall"))
    adding.result(10)
    assert [row.content for row in api.list_memories(user_id="ana", agent_id="b")] == ["Likes tea"]
    assert_counters_are_exact(api)


# A sweep meets a change -----------------------------------------------------------------------------------------------

SWEPT = {
    "memory": (
        "select memory.add_memory('ana', 'Likes tea', expires_at => '2020-01-01')",
        "update memory.memories set expires_at = null",
        "memories",
    ),
    "message": (
        "select memory.add_message('ana', 't1', 'user', 'Hello', expires_at => '2020-01-01')",
        "update memory.messages set expires_at = 'infinity'",
        "messages",
    ),
    "artifact": (
        "select memory.store_artifact('ana', 'one', key => 'log', expires_at => '2020-01-01')",
        "update memory.artifacts set expires_at = null",
        "artifacts",
    ),
    "query embedding": (
        "insert into memory.query_embeddings values ('ana', 'm', 'hash', '[1]', '2020-01-01')",
        "update memory.query_embeddings set created_at = now()",
        "query_embeddings",
    ),
}


@pytest.mark.feature("A2")
@pytest.mark.parametrize("kind", SWEPT)
def test_a_sweep_spares_what_is_given_another_life_while_it_waits_for_the_row(
    db: psycopg.Connection, connect: Connect, meanwhile: Meanwhile, kind: str
) -> None:
    store, prolong, table = SWEPT[kind]
    db.execute(store)
    with db.transaction():
        db.execute(prolong)
        swept = meanwhile(Api(connect()), lambda other: other.sweep())
    swept.result(10)
    assert db.execute(f"select count(*) from memory.{table}").fetchone() == (1,)


@pytest.mark.feature("F3")
def test_no_sweep_deletes_what_is_restored_at_the_same_time(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    """A restore that returned has restored; one that came too late says that there is no such memory."""
    workers = CLIENTS - 2
    done = threading.Semaphore(0)

    def work(client: Api, number: int) -> list[Any]:
        if number >= workers:
            for _ in range(workers // 2):
                while not done.acquire(blocking=False):
                    client.sweep()
            return []
        restored = []
        for place in range(100):
            memory = {"user_id": f"user {number}", "agent_id": f"agent {place % 10}"}
            memory_id = client.add_memory(**memory, content=f"fact {place}").memory_id
            client.delete_memory(user_id=memory["user_id"], memory_id=memory_id)
            with suppress(psycopg.errors.NoDataFound):
                client.restore_memory(user_id=memory["user_id"], memory_id=memory_id)
                restored.append(memory_id)
        done.release()
        return restored

    restored = [memory_id for memory_ids in at_once(clients(), work) for memory_id in memory_ids]
    stored = {row[0] for row in db.execute("select memory_id from memory.memories where deleted_at is null")}
    assert set(restored) == stored
    assert restored
    assert_counters_are_exact(Api(db))


@pytest.mark.feature("E11")
def test_what_belongs_to_an_agent_in_use_comes_back_with_the_next_sweep(
    db: psycopg.Connection, connect: Connect
) -> None:
    """Whoever removes a winner does not wait for the agent of what it hid."""
    api, other = Api(db), Api(connect())
    old = api.add_memory(user_id="ana", agent_id="a", content="Lives in Oslo").memory_id
    new = api.add_memory(user_id="ana", agent_id="b", content="Lives in Rome").memory_id
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    db.execute("set statement_timeout = '5s'")
    with other.connection.transaction():
        other.add_memory(user_id="ana", agent_id="a", content="Likes tea")
        db.execute("delete from memory.memories where memory_id = %s", (new,))
        assert "Lives in Oslo" not in api.render_memories(user_id="ana")
    api.sweep()
    assert "Lives in Oslo" in api.render_memories(user_id="ana")


# Everything at once ---------------------------------------------------------------------------------------------------


class Chaos:
    """Random calls on few users, threads and agents, so that they meet."""

    def __init__(self, api: Api, seed: int) -> None:
        self.api = api
        self.random = random.Random(seed)
        self.numbers = itertools.count(seed * 1_000_000)

    def step(self) -> None:
        actions = [getattr(self, name) for name in dir(type(self)) if name.startswith("do_")]
        self.random.choice(actions)()

    @property
    def thread(self) -> dict[str, str]:
        return {"user_id": "ana", "thread_id": self.random.choice("xyz")}

    @property
    def memory_id(self) -> Any:
        memories = self.api.list_memories(user_id="ana", include_superseded=True)
        return self.random.choice([row.memory_id for row in memories] or [None])

    @property
    def memory(self) -> dict[str, Any]:
        return {"user_id": "ana", "memory_id": self.memory_id}

    @property
    def content(self) -> str:
        return f"fact {self.random.choice([self.random.randrange(20), next(self.numbers)])}"

    @property
    def agent_id(self) -> str:
        return self.random.choice("ab")

    def do_add_message(self) -> None:
        role = self.random.choice(["user", "assistant"])
        self.api.add_message(**self.thread, role=role, content=self.content, agent_id=self.agent_id)

    def do_add_messages(self) -> None:
        messages = [{"role": role, "content": self.content} for role in ("user", "assistant")] * self.random.randint(
            1, 10
        )
        self.api.add_messages(**self.thread, messages=messages, agent_id=self.agent_id)

    def do_add_memory(self) -> None:
        on_conflict = self.random.choice(["ignore", "replace"])
        self.api.add_memory(user_id="ana", agent_id=self.agent_id, content=self.content, on_conflict=on_conflict)

    def do_delete_memory(self) -> None:
        memory = self.memory
        self.api.delete_memory(**memory)
        if self.random.random() < 0.5:
            self.api.restore_memory(**memory)

    def do_restore_memory(self) -> None:
        self.api.restore_memory(**self.memory)

    def do_update_memory(self) -> None:
        self.api.update_memory(**self.memory, content=self.content)

    def do_expire_memory(self) -> None:
        self.api.update_memory(**self.memory, expires_at="2020-01-01")

    def do_supersede_memory(self) -> None:
        old, new = self.memory_id, self.memory_id
        self.api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")

    def do_clear_thread(self) -> None:
        self.api.clear_thread(**self.thread)

    def do_delete_thread(self) -> None:
        self.api.delete_thread(**self.thread)

    def do_sweep(self) -> None:
        self.api.sweep(batch_size=self.random.choice([5, 10000]))

    def do_request(self) -> None:
        of_thread = (self.api.extract_memories, self.api.summarize_thread, self.api.compress_thread)
        self.random.choice(of_thread)(**self.thread)
        self.random.choice((self.api.summarize_user, self.api.reconcile_memories, self.api.consolidate))(user_id="ana")

    def do_read(self) -> None:
        self.api.get_context(**self.thread)

    def result(self, job: Any) -> dict[str, Any]:
        result = result_of(job, memory=self.content)
        if job.kind == "reconcile_memories":
            contents = {fact["number"]: fact["content"] for fact in job.payload["facts"]}
            numbers = self.random.sample(sorted(contents), len(contents))
            result["duplicates"] = [{"numbers": numbers[:2], "content": contents[numbers[0]]}]
            result["contradictions"] = [{"numbers": numbers[1:3]}] if len(numbers) > 2 else []
        if job.kind in ("extract_memories", "summarize_thread", "compress_thread"):
            counts = {str(message["seq"]): self.random.randrange(9) for message in job.payload["messages"]}
            result |= {"token_counts": counts, "token_counter": "dice"}
        return result

    def do_work(self) -> None:
        lease = self.random.choice(["1 millisecond", "1 minute"])
        for job in self.api.claim_jobs(worker="w", max_jobs=3, lease=lease):
            held = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
            with suppress(psycopg.errors.InvalidParameterValue):
                outcome = self.random.random()
                if outcome < 0.7:
                    self.api.complete_job(**held, result=self.result(job))
                elif outcome < 0.8:
                    self.api.release_job(**held)
                else:
                    self.api.fail_job(**held, error="no luck", retry_after="0")

    do_work_too = do_work
    do_add_memory_too = do_add_memory


# Refusals that such a mixture must bring about: no such row, a repetition, a lost lease, a full agent, null for an id.
EXPECTED = {"P0002", "23505", "AM001", "54000", "22023"}


def rush(api: Api, seed: int, seconds: float) -> int:
    """Random calls for so long; how many there were."""
    chaos = Chaos(api, seed)
    deadline = time.monotonic() + seconds
    for count in itertools.count():
        if time.monotonic() > deadline:
            return count
        try:
            chaos.step()
        except psycopg.Error as error:
            if error.sqlstate not in EXPECTED:
                raise
    raise AssertionError


@pytest.mark.feature("E14")
def test_everything_at_once_ends_without_deadlock_and_with_exact_counters(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    api = Api(db)
    cadence = {"fact_extraction_every_n": 3, "user_summary_every_n": 7, "reconcile_every_n": 2}
    compression = {"threshold_tokens": 50, "recent_messages_to_keep": 3, "archive_conversations": True}
    api.set_policy(settings={"memories": {"max_per_agent": 15}, "cadence": cadence, "compression": compression})
    api.set_policy(settings={"cadence": {"thread_summary_every_n": 4}}, agent_id="b")
    assert sum(at_once(clients(), lambda client, number: rush(client, number, seconds=6))) > 200
    assert_counters_are_exact(api)
    assert api.value("select max(memory_count) from memory.memory_scopes") <= 15
    assert (
        api.query(
            "select thread_id from memory.summaries where status = 'processing' "
            "except select scope from memory.jobs where status in ('pending', 'running')"
        )
        == []
    )
    assert (
        api.query("select scope from memory.marks where scope <> '' except select thread_id from memory.threads") == []
    )
    while api.sweep()["checked"]:
        pass
    assert api.query("select from memory.messages where search_vector is null and is_active") == []


@pytest.mark.feature("E14")
def test_clients_that_are_killed_in_mid_transaction_leave_exact_counters(
    connect: Connect, db: psycopg.Connection
) -> None:
    api = Api(db)
    api.set_policy(settings={"memories": {"max_per_agent": 15}})
    done = threading.Event()

    def work(number: int) -> int:
        deaths = 0
        while not done.is_set():
            try:
                client = Api(connect(application_name="victim"))
                while not done.is_set():
                    with client.connection.transaction():
                        client.add_messages(**ANA, messages=[HELLO] * 5)
                        client.add_message(**ANA, **HELLO)
                        client.add_memory(user_id="ana", content=f"{number} {time.monotonic()}")
                        client.connection.execute("select pg_sleep(0.002)")
            except psycopg.OperationalError:  # noqa: PERF203  # the next client follows
                deaths += 1
        return deaths

    with ThreadPoolExecutor(CLIENTS) as pool:
        deaths = [pool.submit(work, number) for number in range(CLIENTS)]
        for victim in killed(api, seconds=4):
            api.connection.execute("select pg_terminate_backend(%s)", [victim])
        done.set()
    assert sum(count.result() for count in deaths) > 5
    assert_counters_are_exact(api)
    [stored] = api.query("select count(*) as messages, max(seq) as last_seq from memory.messages")
    assert (stored.messages % 6, stored.last_seq) == (0, stored.messages - 1)


def killed(api: Api, seconds: float) -> Iterator[int]:
    """Process ids of victims that are in a transaction, one every few hundredths of a second."""
    in_transaction = "select pid from pg_stat_activity where application_name = 'victim' and xact_start is not null"
    deadline = time.monotonic() + seconds
    chance = random.Random(1)
    while time.monotonic() < deadline:
        if pids := [row.pid for row in api.query(in_transaction)]:
            yield chance.choice(pids)
        time.sleep(0.05)
