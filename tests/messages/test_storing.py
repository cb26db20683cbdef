"""Storing and numbering messages, by functions and by plain SQL."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any

import psycopg
import pytest

from tests.messages.steps import ANA, MAY, add, contents, seqs
from tests.support.protocol import activate
from tests.support.sqlapi import Api, refused
from tests.support.summaries import each_round


class TestStoring:
    @pytest.mark.feature("A1")
    def test_every_field_is_stored_and_returned(self, api: Api) -> None:
        expiry = datetime(2090, 1, 1, tzinfo=timezone.utc)
        stored = add(
            api, "Olá", agent_id="helper", metadata={"a": [1, None]}, created_at=MAY, expires_at=expiry,
            idempotency_key="k1",
        )  # fmt: skip
        assert stored == (0, "Olá", 1, None)
        assert api.get_messages(**ANA) == [(0, "user", "Olá", "helper", {"a": [1, None]}, 1, MAY, expiry, True)]
        [row] = api.query(
            "select user_id, thread_id, idempotency_key, clock_timestamp() - updated_at as age from memory.messages"
        )
        assert row[:3] == ("ana", "t1", "k1")
        assert timedelta(0) <= row.age < timedelta(minutes=1)

    @pytest.mark.feature("E1")
    def test_each_role_is_stored(self, api: Api) -> None:
        roles = ["user", "assistant", "tool", "system", "developer", "agent"]
        insert = "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', %s, 'Hello')"
        for role in roles:
            add(api, role=role)
            api.connection.execute(insert, [role])
        api.add_messages(**ANA, messages=[{"role": role, "content": "Hello"} for role in roles])
        stored = [*roles[:-1], "assistant"]
        one_by_one = [role for role in stored for _ in range(2)]
        assert [message.role for message in api.get_messages(**ANA)] == one_by_one + stored


@pytest.mark.feature("A1")
def test_a_role_that_may_update_messages_needs_no_other_rights(api: Api, connect: Callable[..., Any]) -> None:
    add(api)
    activate(api, "ada", "embedding")
    api.connection.execute(
        "create role editor login; grant usage on schema memory to editor; "
        "grant select, update on memory.messages to editor"
    )
    try:
        connect(user="editor").execute("update memory.messages set metadata = '{\"a\": 1}'")
    finally:
        api.connection.execute("drop owned by editor; drop role editor")
    assert api.get_messages(**ANA)[0].metadata == {"a": 1}


class TestDirectInsert:
    def test_obeys_the_rules_of_the_function(self, api: Api) -> None:
        api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content, metadata) "
            "values ('ana', 't1', 'agent', 'Hello', null), ('ana', 't2', 'user', 'Hi', '{}'), "
            "('ana', 't1', 'user', 'Bye', '{\"a\": 1}')"
        )
        first, second = api.get_messages(**ANA)
        assert (first.seq, first.role, first.content, first.metadata, first.token_count) == (
            (0, "assistant", "Hello", {}, 2)
        )  # fmt: skip
        assert (second.seq, second.content, second.metadata) == (1, "Bye", {"a": 1})
        assert first.expires_at - first.created_at == timedelta(days=7)

    def test_copy_obeys_them_too(self, api: Api) -> None:
        into = "copy memory.messages (user_id, thread_id, role, content, created_at) from stdin"
        with api.connection.cursor() as cursor, cursor.copy(into) as copy:
            for number in range(30):
                copy.write_row(("ana", f"t{number % 2}", "user", f"line {number}", MAY))
        assert contents(api) == [f"line {number}" for number in range(1, 30, 2)]
        assert seqs(api, thread_id="t0") == list(range(15))
        assert [thread[:2] for thread in api.list_threads(user_id="ana")] == [("t0", 15), ("t1", 15)]

    @pytest.mark.parametrize(
        ("argument", "columns", "values"),
        [
            ("seq", "user_id, thread_id, role, content, seq", "'ana', 't1', 'user', 'Hello', 0"),
            ("role", "user_id, thread_id, role, content", "'ana', 't1', 'robot', 'Hello'"),
            ("user_id", "thread_id, role, content", "'t1', 'user', 'Hello'"),
        ],
    )
    def test_is_refused_like_the_function(self, api: Api, argument: str, columns: str, values: str) -> None:
        with refused(argument):
            api.connection.execute(f"insert into memory.messages ({columns}) values ({values})".encode())
        assert api.list_threads(user_id="ana") == []

    @pytest.mark.parametrize("change", ["seq = 7", "thread_id = 't2'", "user_id = 'bob'"])
    def test_what_identifies_a_message_cannot_be_updated(self, api: Api, change: str) -> None:
        add(api)
        with refused("seq"):
            api.connection.execute(f"update memory.messages set {change}".encode())


class TestNumbering:
    def test_is_per_thread_and_starts_at_zero(self, api: Api) -> None:
        assert [add(api, thread_id=thread).seq for thread in ("a", "b", "a", "b", "a")] == [0, 0, 1, 1, 2]

    @pytest.mark.parametrize(
        "failing",
        [
            "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'a'), "
            "('ana', 't1', 'robot', 'b')",
            "insert into memory.messages (user_id, thread_id, role, content, idempotency_key) "
            "values ('ana', 't1', 'user', 'a', null), ('ana', 't1', 'user', 'b', 'key') on conflict do nothing",
            'select memory.add_messages(\'ana\', \'t1\', \'[{"role": "user", "content": "a"}, {"role": "user"}]\')',
            "do $$ begin perform memory.add_message('ana', 't1', 'user', 'a'); raise exception 'no'; end $$",
        ],
    )
    def test_has_no_gap_after_a_failure(self, api: Api, failing: str) -> None:
        add(api, "first", idempotency_key="key")
        with pytest.raises(psycopg.Error), api.connection.transaction():
            api.connection.execute(failing.encode())
        add(api, "second")
        assert contents(api) == ["first", "second"]
        assert seqs(api) == [0, 1]


@pytest.mark.feature("D10")
def test_appending_does_not_wait_for_a_worker(api: Api, connect: Callable[..., psycopg.Connection]) -> None:
    each_round(api)
    api.talk(**ANA, rounds=10)
    worker = Api(connect())
    kinds = {job.kind for job in worker.claim_jobs(worker="slow", max_jobs=10)}
    assert kinds == {"extract_memories", "summarize_thread"}  # and its models are thinking now
    api.connection.execute("set lock_timeout = '1s'")
    api.talk(**ANA, rounds=10)
    assert len(contents(api)) == 40
