"""A receipt counts each row that went, of each table."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest

from tests.erasure.conftest import ANA, NEEDLE, fill
from tests.support.sqlapi import TABLES, Api

pytestmark = pytest.mark.feature("F5")

LOCKED = {"user_locks", "whole_user_changes"}
"""Tables in which a call notes that it is under way."""
NOTED = {"changes", "new_changes"}
"""What the receipt of a memory does not count: notes that it was there, without content."""


def stored(api: Api) -> dict[str, Counter[str]]:
    """The rows of all tables by user and primary key, or whole where there is no key."""
    found = {}
    for [table] in api.query(TABLES):
        key = api.value(
            "select coalesce(string_agg(format('t.%%I', a.attname), ', '), 't::text') from pg_index as i"
            " join pg_attribute as a on a.attrelid = i.indrelid"
            " and (a.attnum = any (i.indkey) or a.attname = 'user_id')"
            " where i.indisprimary and i.indrelid = %(table)s::regclass",
            table=f"memory.{table}",
        )
        found[table] = Counter(row for [row] in api.query(f"select row({key})::text from memory.{table} as t"))
    return found


def gone(before: dict[str, Counter[str]], after: dict[str, Counter[str]]) -> dict[str, int]:
    lost = {table: (rows - after[table]).total() for table, rows in before.items() if table not in LOCKED}
    return {table: number for table, number in lost.items() if number}


def test_the_receipt_of_a_user_counts_what_is_gone(filled: Api) -> None:
    memory_id = filled.add_memory(user_id=ANA, content="Nothing that is said elsewhere").memory_id
    filled.forget_memory(user_id=ANA, memory_id=memory_id)
    before = stored(filled)
    receipt = filled.forget_user(user_id=ANA, reason=f"ticket 7 of {ANA}")
    assert filled.value("select reason from memory.receipts where subject = 'user'") == "ticket 7 of [forgotten]"
    assert receipt["tables"] == gone(before, stored(filled))
    assert receipt["tables"]["tombstones"] == 1
    assert receipt["tables"]["agent_budgets"] == 1
    assert len(receipt["tables"]) >= 25


def test_the_second_receipt_of_a_user_counts_what_came_after_the_first(filled: Api) -> None:
    filled.forget_user(user_id=ANA)
    fill(filled, ANA, NEEDLE)
    assert "extraction" in {memory.source for memory in filled.list_memories(user_id=ANA)}, "heard as a new user"
    before = stored(filled)
    receipt = filled.forget_user(user_id=ANA)
    assert receipt["tables"] == gone(before, stored(filled))


@pytest.mark.parametrize("what", ["a message", "a summary", "an artifact"])
def test_the_receipt_of_a_memory_counts_what_is_gone(filled: Api, what: str) -> None:
    """Of a user with something in each table, who has said it in one place after the other, or in all texts."""
    user: dict[str, Any] = {"user_id": ANA}
    content = {
        "a message": f"I live in {NEEDLE} street",
        "a summary": f"They talked of {NEEDLE}",
        "an artifact": f"The beginning of {NEEDLE}",
    }[what]
    for extra in ({}, {"agent_id": "another"}):
        memory_id = filled.add_memory(**user, content=content, **extra).memory_id
    for number in range(3):
        filled.update_memory(**user, memory_id=memory_id, content=f"{content}, {number}")
    # What triggers remove with a message, and what jobs have begun or made of a thread.
    thread = filled.value("select thread_id from memory.messages where user_id = %(u)s order by seq limit 1", u=ANA)
    filled.quarantine_source(**user, source="message", id=f"{thread}/0", reason="looks planted")
    conversation = filled.add_memory(
        **user, thread_id=thread, memory_type="conversation_summary", source="thread_summary", content="They talked"
    ).memory_id
    filled.update_memory(**user, memory_id=conversation, content="They talked again")
    filled.claim_jobs(worker="w", max_jobs=100, **user)
    before = stored(filled)
    receipt = filled.forget_memory(**user, memory_id=memory_id)
    expected = {table: rows for table, rows in gone(before, stored(filled)).items() if table not in NOTED}
    assert receipt["tables"] == expected
