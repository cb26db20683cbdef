"""Clients that call everything at random, and are killed: no deadlock, and counters are exact."""

from __future__ import annotations

import itertools
import random
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from tests.concurrency.steps import ANA, CLIENTS, HELLO, Connect, assert_counters_are_exact, at_once
from tests.support.sqlapi import Api, result_of


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
            numbers = self.random.sample(range(1, len(job.payload["facts"]) + 1), len(job.payload["facts"]))
            result["duplicates"] = [{"numbers": numbers[:2]}]
            result["contradictions"] = [{"numbers": numbers[1:3]}] if len(numbers) > 2 else []
        if job.kind in ("extract_memories", "summarize_thread", "compress_thread"):
            counts = {str(message["seq"]): self.random.randrange(9) for message in job.payload["messages"]}
            result |= {"token_counts": counts, "token_counter": "dice"}
        return result

    def do_work(self) -> None:
        lease = self.random.choice(["1 millisecond", "1 minute"])
        for job in self.api.claim_jobs(worker="w", max_jobs=3, lease=lease):
            held = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
            # Somebody may hold a row for longer than a job waits; a runner would hand the result in again.
            with suppress(psycopg.errors.InvalidParameterValue, psycopg.errors.LockNotAvailable):
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
    """Make random calls for this many seconds, and thirty on the busiest machine; returns how many."""
    chaos = Chaos(api, seed)
    deadline = time.monotonic() + seconds
    for count in itertools.count():
        if time.monotonic() > deadline and count >= 30:
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
    assert (
        api.query(
            "select from memory.messages as m"
            " where m.is_active and not memory._is_parsed(m.user_id, 'message', m.thread_id || '/' || m.seq)"
        )
        == []
    )


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
    """Process ids of victims that are in a transaction, one every few hundredths of a second, and ten at least."""
    in_transaction = "select pid from pg_stat_activity where application_name = 'victim' and xact_start is not null"
    deadline = time.monotonic() + seconds
    chance = random.Random(1)
    victims = 0
    while time.monotonic() < deadline or victims < 10:
        if pids := [row.pid for row in api.query(in_transaction)]:
            victims += 1
            yield chance.choice(pids)
        time.sleep(0.05)
