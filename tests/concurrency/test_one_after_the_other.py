"""Two transactions that meet: the second waits for the first and does the right thing then."""

from __future__ import annotations

import threading
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, wait
from contextlib import suppress
from typing import Any

import psycopg
import pytest

from tests.concurrency.steps import ANA, CLIENTS, HELLO, Connect, assert_counters_are_exact, at_once
from tests.support.runners import PATIENCE
from tests.support.sessions import Sessions, code
from tests.support.sqlapi import Api, result_of
from tests.support.texts import unread_messages


def extraction(api: Api) -> dict[str, Any]:
    """The lease of an extraction of the one message of a thread."""
    api.add_message(**ANA, **HELLO)
    api.extract_memories(**ANA)
    [job] = api.claim_jobs(worker="w")
    return {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}


@pytest.mark.feature("D11")
def test_a_thread_deleted_during_its_first_extraction_is_extracted_anew_when_it_returns(
    sessions: Sessions,
) -> None:
    api = sessions.api
    lease = extraction(api)
    with api.connection.transaction():
        api.complete_job(**lease, result={"memories": []})
        deleted = sessions.start("delete_thread", **ANA)
    assert deleted.result(PATIENCE) == 1
    assert api.query("select from memory.marks where scope <> ''") == []
    extraction(api)


@pytest.mark.feature("D11")
def test_a_thread_deleted_during_an_extraction_leaves_no_memory_of_swept_messages_behind(
    sessions: Sessions,
) -> None:
    api = sessions.api
    lease = extraction(api)
    api.connection.execute("update memory.messages set expires_at = now()")
    assert api.sweep()["messages"] == 1
    with api.connection.transaction():
        api.complete_job(**lease, result={"memories": [{"content": "Said hello", "memory_type": "fact", "seqs": [0]}]})
        deleted = sessions.start("delete_thread", **ANA)
    assert deleted.result(PATIENCE) == 0
    assert api.query("select from memory.memories") == []


@pytest.mark.feature("E14")
def test_a_transaction_that_appends_and_then_remembers_does_not_deadlock_with_a_deletion(
    sessions: Sessions,
) -> None:
    api = sessions.api
    api.add_message(**ANA, **HELLO)
    api.add_memory(user_id="ana", content="Likes tea")
    with api.connection.transaction():
        api.add_message(**ANA, **HELLO)
        deleted = sessions.start("delete_thread", **ANA)
        api.add_memory(user_id="ana", content="Said hello")
    assert deleted.result(PATIENCE) == 2


@pytest.mark.feature("E14")
def test_a_transaction_that_asks_for_a_compression_and_then_appends_does_not_deadlock_with_one_being_stored(
    sessions: Sessions,
) -> None:
    api = sessions.api
    api.set_policy(settings={"compression": {"recent_messages_to_keep": 2}})
    api.talk(**ANA, rounds=3)
    api.compress_thread(**ANA)
    [job] = api.claim_jobs(worker="w", kinds=["compress_thread"])
    lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
    with api.connection.transaction():
        api.compress_thread(**ANA)
        stored = sessions.start("complete_job", **lease, result=result_of(job))
        api.add_message(**ANA, **HELLO)
    stored.result(PATIENCE)
    assert [row.seq for row in api.get_messages(**ANA)] == [4, 5, 6]


@pytest.mark.feature("E14")
def test_callers_of_one_key_who_waited_for_a_deletion_get_one_message(
    sessions: Sessions,
) -> None:
    api = sessions.api
    api.add_message(**ANA, **HELLO)

    def append(caller: Api) -> int:
        caller.connection.execute("begin")
        seq: int = caller.add_message(**ANA, role="user", content="Hello again", idempotency_key="key").seq
        return seq

    callers = [sessions.new(), sessions.new()]
    with api.connection.transaction():
        api.connection.execute("select from memory.threads for update")  # as delete_thread() does first of all
        calls = {sessions.pool.submit(append, caller): caller for caller in callers}
        for call, caller in calls.items():
            sessions.until_waiting(caller, call)
        api.delete_thread(**ANA)
    [first] = wait(calls, timeout=PATIENCE, return_when=FIRST_COMPLETED).done
    [second] = calls.keys() - {first}
    sessions.until_waiting(calls[second], second)
    calls[first].connection.execute("commit")
    assert (first.result(), second.result(PATIENCE)) == (0, 0)
    calls[second].connection.execute("commit")
    assert api.query("select content from memory.messages") == [("Hello again",)]


@pytest.mark.feature("F3", "B8")
def test_a_memory_restored_at_the_same_time_is_not_put_away_by_the_limit(
    sessions: Sessions,
) -> None:
    """The hidden memory and the memory that hid it belong to two agents."""
    api = sessions.api
    api.set_policy(settings={"memories": {"max_per_agent": 1}}, agent_id="a")
    old = api.add_memory(user_id="ana", agent_id="b", content="Likes tea", importance=0.1).memory_id
    new = api.add_memory(user_id="ana", agent_id="a", content="Likes coffee", importance=0.1).memory_id
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    with api.connection.transaction():
        api.restore_memory(user_id="ana", memory_id=old)
        adding = sessions.start("add_memory", user_id="ana", agent_id="a", content="Tall")
    adding.result(PATIENCE)
    assert [row.content for row in api.list_memories(user_id="ana", agent_id="b")] == ["Likes tea"]
    assert_counters_are_exact(api)


# A sweep meets a change -----------------------------------------------------------------------------------------------


SWEPT = {
    "memory": (
        "select memory.add_memory('ana', 'Likes tea', expires_at => '2020-01-01')",
        "update memory.memories set expires_at = null",
        "memories",
    ),
    "artifact": (
        "select memory.store_artifact('ana', 'one', key => 'log', expires_at => '2020-01-01')",
        "update memory.artifacts set expires_at = null",
        "artifacts",
    ),
}


@pytest.mark.feature("A2")
@pytest.mark.parametrize("kind", SWEPT)
def test_a_sweep_spares_a_row_whose_expiry_changes_while_the_sweep_waits(sessions: Sessions, kind: str) -> None:
    store, prolong, table = SWEPT[kind]
    connection = sessions.api.connection
    connection.execute(store)
    with connection.transaction():
        connection.execute(prolong)
        swept = sessions.start("sweep")
    swept.result(PATIENCE)
    assert connection.execute(f"select count(*) from memory.{table}").fetchone() == (1,)


@pytest.mark.feature("A2")
def test_beside_a_sweep_another_one_does_nothing(sessions: Sessions) -> None:
    """Two that parse messages of some threads and delete those of others would wait for each other."""
    api = sessions.api
    for thread in ("t1", "t2"):
        api.add_message(**ANA | {"thread_id": thread}, **HELLO)
    with api.connection.transaction():
        assert api.sweep(batch_size=1)["checked"] == 1
        beside = sessions.start("sweep").result(PATIENCE)
    assert beside == dict.fromkeys(api.sweep(), 0)
    assert unread_messages(api) == []


@pytest.mark.feature("F3")
def test_a_sweep_does_not_delete_a_memory_restored_at_the_same_time(
    clients: Callable[[], list[Api]], db: psycopg.Connection
) -> None:
    """Either the restore returns and the memory is there, or the restore says that there is no such memory."""
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
def test_a_memory_of_an_agent_in_use_comes_back_with_the_next_sweep(db: psycopg.Connection, connect: Connect) -> None:
    """Deleting a memory does not wait for the agent of the memory it hid; the next sweep brings that one back."""
    api, other = Api(db), Api(connect())
    old = api.add_memory(user_id="ana", agent_id="a", content="Lives in Oslo").memory_id
    new = api.add_memory(user_id="ana", agent_id="b", content="Lives in Rome").memory_id
    api.supersede_memory(user_id="ana", old_memory_id=old, new_memory_id=new, reason="newer")
    db.execute("set statement_timeout = '60s'")
    with other.connection.transaction():
        other.add_memory(user_id="ana", agent_id="a", content="Likes tea")
        db.execute("delete from memory.memories where memory_id = %s", (new,))
        assert "Lives in Oslo" not in api.render_memories(user_id="ana")
    api.sweep()
    assert "Lives in Oslo" in api.render_memories(user_id="ana")


@pytest.mark.feature("D11")
def test_a_thread_is_deleted_while_its_extraction_makes_the_counter_of_an_agent(sessions: Sessions) -> None:
    """Agents a and b have heard the thread, and b has no counter: both calls lock that of a, then make that of b."""
    api = sessions.api
    api.add_memory(user_id="ana", content="Likes tea", agent_id="a")
    for agent in "ab":
        api.add_message(**{**ANA, **HELLO, "agent_id": agent})
    api.extract_memories(**ANA)
    [job] = api.claim_jobs(worker="w")
    holding = sessions.hold("select from memory.memory_scopes for update")
    completion = sessions.start(
        "complete_job",
        user_id="ana",
        job_id=job.job_id,
        lease_token=job.lease_token,
        result=result_of(job, "", "Likes coffee"),
    )
    deletion = sessions.start("delete_thread", **ANA)
    holding.rollback()
    assert [code(completion), code(deletion)] == [None, None]
    assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Likes tea"]
