"""What applications delete goes for good without memory.sweep(), and a thread may take its stated memories along."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F5")

ANA = {"user_id": "ana"}
THREAD = {**ANA, "thread_id": "t1"}


def soft_deleted(api: Api) -> int:
    """How many rows are deleted and still there."""
    number: int = api.value(
        "select (select count(*) from memory.messages where not is_active)"
        " + (select count(*) from memory.memories where deleted_at is not null)"
    )
    return number


def delete_some(api: Api, user_id: str = "ana") -> None:
    api.talk(user_id, "t1", rounds=3)
    api.talk(user_id, "t2", rounds=3)
    api.clear_thread(user_id=user_id, thread_id="t1")
    api.delete_message(user_id=user_id, thread_id="t2", seq=5)
    memory_id = api.add_memory(user_id=user_id, content="Likes tea").memory_id
    api.delete_memory(user_id=user_id, memory_id=memory_id)


def let_days_pass(api: Api, days: int) -> None:
    # Without the trigger, which would set updated_at to now.
    api.connection.execute("alter table memory.messages disable trigger user")
    api.connection.execute("alter table memory.memories disable trigger user")
    api.connection.execute(f"update memory.messages set updated_at = updated_at - interval '{days} days'")
    api.connection.execute(f"update memory.memories set deleted_at = deleted_at - interval '{days} days'")
    api.connection.execute("alter table memory.messages enable trigger user")
    api.connection.execute("alter table memory.memories enable trigger user")
    api.connection.execute(
        f"update memory.due_deletions set due_at = due_at - interval '{days} days',"
        f" deleted_before = deleted_before - interval '{days} days'"
    )


@pytest.mark.parametrize("by", ["a worker without a job", "the next deletion"])
def test_deletions_end_after_the_time_of_the_policy(api: Api, by: str) -> None:
    delete_some(api)
    api.connection.execute("delete from memory.jobs")
    assert soft_deleted(api) == 8
    ways: dict[str, Callable[[], Any]] = {
        "a worker without a job": lambda: api.claim_jobs(worker="w"),
        "the next deletion": lambda: api.clear_thread(**ANA, thread_id="t1"),
    }
    finish = ways[by]
    let_days_pass(api, 29)
    finish()
    assert soft_deleted(api) == 8
    let_days_pass(api, 2)
    finish()
    assert soft_deleted(api) == 0
    assert len(api.get_messages(**ANA, thread_id="t2")) == 5
    assert api.list_threads(**ANA)[0].message_count == 5


def test_another_users_deletions_and_newer_ones_are_left(api: Api) -> None:
    delete_some(api)
    delete_some(api, "bo")
    let_days_pass(api, 31)
    memory_id = api.add_memory(**ANA, content="Likes cake").memory_id
    api.delete_memory(**ANA, memory_id=memory_id)
    assert {row.user_id for row in api.query("select user_id from memory.messages where not is_active")} == {"bo"}
    assert api.value("select count(*) from memory.memories where user_id = 'ana' and deleted_at is not null") == 1
    api.restore_memory(**ANA, memory_id=memory_id)


def test_the_policy_says_when_or_never(api: Api) -> None:
    api.set_policy(settings={"erasure": {"delete_after": "1 day"}}, user_id="ana")
    delete_some(api)
    let_days_pass(api, 2)
    api.clear_thread(**THREAD)
    assert soft_deleted(api) == 0


def test_a_thread_that_somebody_holds_is_left_for_the_next_call(connect: Any) -> None:
    api = Api(connect())
    delete_some(api)
    let_days_pass(api, 31)
    api.connection.execute("delete from memory.jobs")
    holder = connect()
    holder.execute("begin")
    holder.execute("select from memory.threads where thread_id = 't1' for update")
    api.connection.execute("set statement_timeout = '60s'")
    api.claim_jobs(worker="w")
    assert api.value("select count(*) from memory.messages where thread_id = 't1'") == 6
    holder.execute("rollback")
    api.claim_jobs(worker="w")
    assert soft_deleted(api) == 0
    assert api.query("select * from memory.due_deletions") == []


def test_a_thread_takes_its_stated_memories_along_if_asked(api: Api) -> None:
    for number, thread in enumerate(("t1", "t1", "t2")):
        api.add_memory(**ANA, content=f"Stated {number}", thread_id=thread)
        api.add_message(**ANA, thread_id=thread, role="user", content="Hello")

    def contents() -> list[str]:
        return sorted(memory.content for memory in api.list_memories(**ANA))

    with refused("memories"):
        api.delete_thread(**THREAD, memories="drop")
    assert api.delete_thread(**ANA, thread_id="t2") == 1
    assert contents() == ["Stated 0", "Stated 1", "Stated 2"]
    assert api.delete_thread(**THREAD, memories="forget") == 2
    assert contents() == ["Stated 2"]
    assert not api.add_memory(**ANA, content="stated 0", source="extraction").inserted
    assert api.delete_thread(**ANA, thread_id="t2", memories="forget") == 0, "the thread is gone, the memory names it"
    assert contents() == []
