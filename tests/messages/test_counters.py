"""The counters of threads equal their messages after every change."""

from __future__ import annotations

import json
from typing import ClassVar

import psycopg
import pytest

from tests.messages.steps import ANA, add
from tests.support.sqlapi import Api, refused


class TestCounters:
    BATCH = json.dumps([{"role": "user", "content": f"message {number}"} for number in range(10)])
    CHANGES: ClassVar = {
        "add_message": ("select memory.add_message('ana', 't1', 'user', 'x')", 5),
        "add_messages": (f"select memory.add_messages('ana', 't1', '{BATCH}')", 14),
        "insert of many rows": (
            "insert into memory.messages (user_id, thread_id, role, content) "
            "select 'ana', 't1', 'user', repeat('x', n) from generate_series(1, 20) as n",
            24,
        ),
        "insert with tool calls": (
            "insert into memory.messages (user_id, thread_id, role, content, metadata) "
            "values ('ana', 't1', 'assistant', '', '{\"tool_calls\": [{\"id\": \"1\"}]}')",
            5,
        ),
        "clear_thread": ("select memory.clear_thread('ana', 't1')", 0),
        "delete": ("delete from memory.messages where user_id = 'ana' and seq < 3", 1),
        "delete of a cleared message": (
            "update memory.messages set is_active = seq <> 2; delete from memory.messages where seq = 2",
            3,
        ),
        "content updated": ("update memory.messages set content = repeat('x', 500) where seq = 1", 4),
        "metadata updated": ("update memory.messages set metadata = '{\"tool_calls\": [1, 2, 3]}'", 4),
        "switched off": ("update memory.messages set is_active = false where seq in (1, 2)", 2),
        "switched off and on": (
            "update memory.messages set is_active = false; update memory.messages set is_active = true where seq > 0",
            3,
        ),
        "switched off and changed": ("update memory.messages set is_active = seq > 1, content = content || '!!!!'", 2),
        "sweep": ("update memory.messages set expires_at = now() where seq < 2; select memory.sweep()", 2),
        "sweep after clear_thread": ("select memory.clear_thread('ana', 't1'); select memory.sweep()", 0),
    }
    TRANSACTIONS: ClassVar = {
        "rollback": ("begin; select memory.add_message('ana', 't1', 'user', 'x'); rollback", 4),
        "rollback to savepoint": (
            "begin; select memory.add_message('ana', 't1', 'user', 'x'); savepoint s; "
            "select memory.add_message('ana', 't1', 'user', 'y'); rollback to s; commit",
            5,
        ),
        "delete and insert in one transaction": (
            "begin; delete from memory.messages where seq < 2; select memory.add_message('ana', 't1', 'user', 'x'); "
            "commit",
            3,
        ),
    }

    @pytest.mark.feature("E14")
    @pytest.mark.parametrize("change", CHANGES)
    def test_are_exact_after(self, api: Api, change: str) -> None:
        self.compare_after(api, *self.CHANGES[change])

    @pytest.mark.feature("E14")
    @pytest.mark.usefixtures("db")
    @pytest.mark.parametrize("change", TRANSACTIONS)
    def test_are_exact_after_a_transaction(self, api: Api, change: str) -> None:
        self.compare_after(api, *self.TRANSACTIONS[change])

    def compare_after(self, api: Api, statements: str, expected: int) -> None:
        api.talk(**ANA, rounds=2)
        api.talk("bob", "t1", rounds=4)
        api.connection.execute(statements.encode())
        counted = api.query(
            "select t.user_id, t.message_count, t.active_tokens, count(m.seq), coalesce(sum(m.token_count), 0) "
            "from memory.threads as t left join memory.messages as m "
            "on (m.user_id, m.thread_id) = (t.user_id, t.thread_id) and m.is_active "
            "group by t.user_id, t.thread_id order by t.user_id"
        )
        assert [row[1:3] for row in counted] == [row[3:] for row in counted]
        assert counted[0].message_count == expected


def test_a_message_that_a_trigger_leaves_out_is_not_counted(api: Api, db: psycopg.Connection) -> None:
    db.execute(
        "create function no_spam() returns trigger language plpgsql as "
        "$$ begin return case when new.content <> 'spam' then new end; end $$"
    )
    db.execute("create trigger a_filter before insert on memory.messages for each row execute function no_spam()")
    add(api, "first")
    with db.transaction():
        assert add(api, "spam").seq is None
        with refused("seq"), db.transaction():
            db.execute(
                "insert into memory.messages (user_id, thread_id, seq, role, content) "
                "values ('ana', 't1', 7, 'user', 'x')"
            )
    assert add(api, "second").seq == 1
    [thread] = api.query("select next_seq, message_count, active_tokens from memory.threads")
    [stored] = api.query("select count(*) as messages, sum(token_count) as tokens from memory.messages")
    assert thread == (2, stored.messages, stored.tokens) == (2, 2, 4)
