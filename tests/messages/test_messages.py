"""Conversations: storing, numbering, counting, expiring, reading, clearing and deleting messages."""

from __future__ import annotations

import contextlib
import json
import random
import threading
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from typing import Any, ClassVar

import psycopg
import pytest
from psycopg.types.json import Jsonb

from tests.support.protocol import activate
from tests.support.sqlapi import Api, refused

MAY = datetime(2026, 5, 1, 10, 30, tzinfo=timezone.utc)
ANA: dict[str, Any] = {"user_id": "ana", "thread_id": "t1"}
TOOL_CALLS = [{"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": '{"city": "Porto"}'}}]


@pytest.fixture
def api(db: psycopg.Connection) -> Api:
    return Api(db)


def add(api: Api, content: str = "Hello", role: str = "user", **arguments: Any) -> Any:
    return api.add_message(**{**ANA, "role": role, "content": content, **arguments})


def contents(api: Api, **arguments: Any) -> list[str]:
    return [message.content for message in api.get_messages(**{**ANA, **arguments})]


def seqs(api: Api, **arguments: Any) -> list[int]:
    return [message.seq for message in api.get_messages(**{**ANA, **arguments})]


def expire(api: Api, where: str) -> None:
    api.connection.execute(f"update memory.messages set expires_at = now() - interval '1 ms' where {where}".encode())


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
        [row] = api.query("select user_id, thread_id, idempotency_key, now() - updated_at as age from memory.messages")
        assert row[:3] == ("ana", "t1", "k1")
        assert timedelta(0) <= row.age < timedelta(minutes=1)

    @pytest.mark.feature("A1")
    def test_what_is_left_out_gets_a_default(self, api: Api) -> None:
        add(api)
        [message] = api.get_messages(**ANA)
        assert (message.agent_id, message.metadata, message.is_active) == ("default", {}, True)
        assert abs(message.created_at - datetime.now(timezone.utc)) < timedelta(minutes=1)

    @pytest.mark.feature("A1")
    def test_a_change_moves_updated_at_and_not_created_at(self, api: Api) -> None:
        add(api, created_at=MAY)
        before = api.value("select updated_at from memory.messages")
        api.connection.execute("update memory.messages set content = 'Bye'")
        assert api.value("select updated_at from memory.messages") > before
        assert api.get_messages(**ANA)[0].created_at == MAY

    @pytest.mark.feature("E1")
    @pytest.mark.parametrize(
        ("given", "stored"),
        [(role, role) for role in ("user", "assistant", "tool", "system", "developer")] + [("agent", "assistant")],
    )
    def test_each_role_is_stored(self, api: Api, given: str, stored: str) -> None:
        add(api, role=given)
        api.add_messages(**ANA, messages=[{"role": given, "content": "Hello"}])
        api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', %s, 'Hello')", [given]
        )
        assert [message.role for message in api.get_messages(**ANA)] == [stored] * 3

    def test_a_batch_comes_back_in_order_as_stored(self, api: Api) -> None:
        add(api)
        batch = [{"role": "user", "content": str(number), "created_at": MAY.isoformat()} for number in range(50)]
        stored = api.add_messages(**ANA, messages=batch, agent_id="helper")
        assert stored == [(number + 1, str(number), 1, None) for number in range(50)]
        last = api.get_messages(**ANA)[-1]
        assert (last.content, last.created_at, last.agent_id) == ("49", MAY, "helper")

    def test_an_empty_batch_stores_nothing(self, api: Api) -> None:
        assert api.add_messages(**ANA, messages=Jsonb([])) == []
        assert api.list_threads(user_id="ana") == []

    def test_a_batch_with_one_bad_message_stores_none(self, api: Api) -> None:
        with refused("role"):
            api.add_messages(**ANA, messages=[{"role": "user", "content": "1"}, {"role": "robot", "content": "2"}])
        assert api.list_threads(user_id="ana") == []


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
            ("content", "user_id, thread_id, role, content", "'ana', 't1', 'user', ''"),
            ("user_id", "thread_id, role, content", "'t1', 'user', 'Hello'"),
            ("metadata", "user_id, thread_id, role, content, metadata", "'ana', 't1', 'user', 'Hello', '[]'"),
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
    @pytest.mark.parametrize("in_savepoint", [False, True])
    def test_has_no_gap_after_a_failure(self, api: Api, failing: str, in_savepoint: bool) -> None:
        add(api, "first", idempotency_key="key")
        with api.connection.transaction() if in_savepoint else contextlib.nullcontext():
            with pytest.raises(psycopg.Error), api.connection.transaction():
                api.connection.execute(failing.encode())
            add(api, "second")
        assert contents(api) == ["first", "second"]
        assert seqs(api) == [0, 1]

    @pytest.mark.feature("A11", "A16")
    def test_goes_on_after_clear_and_sweep(self, api: Api) -> None:
        api.talk(**ANA, rounds=2)
        api.clear_thread(**ANA)
        api.sweep()
        assert add(api).seq == 4

    def test_starts_again_in_a_thread_that_was_deleted(self, api: Api) -> None:
        api.talk(**ANA, rounds=2)
        api.delete_thread(**ANA)
        assert add(api).seq == 0


class TestExpiry:
    @pytest.mark.feature("A2")
    @pytest.mark.parametrize(
        ("policy", "given", "lifetime"),
        [
            (None, None, timedelta(days=7)),
            ("36 hours", None, timedelta(hours=36)),
            ("never", None, None),
            ("36 hours", timedelta(minutes=5), timedelta(minutes=5)),
            (None, "infinity", None),
            ("never", timedelta(days=1), timedelta(days=1)),
        ],
    )
    def test_comes_from_the_row_or_the_policy_or_is_a_week(
        self, api: Api, policy: str | None, given: Any, lifetime: timedelta | None
    ) -> None:
        if policy:
            api.set_policy(settings={"messages": {"expires_after": policy}})
        now = api.value("select now()")
        add(api, expires_at=now + given if isinstance(given, timedelta) else given)
        [message] = api.get_messages(**ANA)
        if lifetime is None:
            assert message.expires_at is None
        else:
            assert abs(message.expires_at - now - lifetime) < timedelta(minutes=1)

    @pytest.mark.feature("A2")
    def test_of_a_batch_follows_the_agents_policy(self, api: Api) -> None:
        api.set_policy(settings={"messages": {"expires_after": "never"}}, agent_id="archive")
        for agent in ("archive", "other"):
            api.add_messages(**ANA, messages=[{"role": "user", "content": "Hello"}], agent_id=agent)
        archived, other = api.get_messages(**ANA)
        assert archived.expires_at is None
        assert other.expires_at - other.created_at == timedelta(days=7)

    @pytest.mark.feature("A2")
    @pytest.mark.parametrize(
        "read",
        [
            lambda api: api.get_messages(**ANA),
            lambda api: api.get_context(**ANA),
            lambda api: api.search(user_id="ana", query="word", mode="keyword", sources=["message"]),
        ],
        ids=["get_messages", "get_context", "search"],
    )
    def test_hides_a_message_at_once(self, api: Api, read: Callable[[Api], list[Any]]) -> None:
        add(api, "word one")
        add(api, "word two")
        assert sorted(row.content for row in read(api)) == ["word one", "word two"]
        expire(api, "seq = 0")
        assert [row.content for row in read(api)] == ["word two"]

    @pytest.mark.feature("A2")
    def test_leaves_the_row_until_it_is_swept(self, api: Api) -> None:
        for content in ("old", "young"):
            add(api, content)
        expire(api, "content = 'old'")
        assert contents(api, include_inactive=True) == ["old", "young"]
        assert api.sweep()["messages"] == 1
        assert contents(api, include_inactive=True) == ["young"]
        assert api.sweep()["messages"] == 0

    @pytest.mark.feature("A2")
    def test_sweep_removes_at_most_a_batch(self, api: Api) -> None:
        api.talk(**ANA, rounds=5)
        expire(api, "true")
        assert [api.sweep(batch_size=4)["messages"] for _ in range(4)] == [4, 4, 2, 0]

    @pytest.mark.feature("E16")
    def test_keeps_what_was_derived_from_the_messages(self, api: Api) -> None:
        api.talk(**ANA, rounds=5)
        api.finish_jobs(summary="They talked about tea.", memory="Likes tea")
        expire(api, "true")
        assert api.sweep()["messages"] == 10
        assert [(part.source, part.content.splitlines()[-2]) for part in api.get_context(**ANA)] == [
            ("memories", "1. Likes tea"),
            ("thread_summary", "They talked about tea."),
        ]


class TestReading:
    @pytest.mark.feature("E3")
    @pytest.mark.parametrize(
        ("arguments", "expected"),
        [
            ({}, [0, 1, 2, 3, 4, 5]),
            ({"recent_k": 2}, [4, 5]),
            ({"recent_k": 100}, [0, 1, 2, 3, 4, 5]),
            ({"after_seq": 3}, [4, 5]),
            ({"before_seq": 2}, [0, 1]),
            ({"after_seq": 0, "before_seq": 4}, [1, 2, 3]),
            ({"before_seq": 4, "recent_k": 2}, [2, 3]),
            ({"agent_id": "odd"}, [1, 3, 5]),
            ({"agent_id": "odd", "recent_k": 2}, [3, 5]),
            ({"after_seq": 5}, []),
        ],
    )
    def test_a_part_of_a_thread_oldest_first(self, api: Api, arguments: dict[str, Any], expected: list[int]) -> None:
        for number in range(6):
            add(api, str(number), agent_id="odd" if number % 2 else "even")
        assert seqs(api, **arguments) == expected

    @pytest.mark.feature("A3")
    @pytest.mark.parametrize("reader", ["get_messages", "get_context"])
    @pytest.mark.parametrize(
        "other", [{"user_id": "bob"}, {"thread_id": "t2"}, {"agent_id": "other"}], ids=["user", "thread", "agent"]
    )
    def test_never_crosses_user_thread_or_agent(self, api: Api, reader: str, other: dict[str, str]) -> None:
        mine = {**ANA, "agent_id": "mine"}
        api.add_message(**mine, role="user", content="mine")
        api.add_message(**{**mine, **other}, role="user", content="theirs")
        assert [row.content for row in getattr(api, reader)(**mine)] == ["mine"]
        assert [row.content for row in getattr(api, reader)(**{**mine, **other})] == ["theirs"]

    def test_an_unknown_thread_is_empty(self, api: Api) -> None:
        assert api.get_messages(**ANA) == []

    def test_threads_are_listed_with_their_counters_latest_first(self, api: Api) -> None:
        add(api, "Hello there", thread_id="old", created_at=MAY)
        add(api, "Bye", thread_id="old", created_at=MAY + timedelta(hours=1))
        add(api, thread_id="new")
        add(api, user_id="bob")
        new, old = api.list_threads(user_id="ana")
        assert old == ("old", 2, 3 + 1, MAY, MAY + timedelta(hours=1), 2)
        assert (new.thread_id, new.message_count, new.total_count) == ("new", 1, 2)

    def test_threads_are_listed_by_page_with_the_total(self, api: Api) -> None:
        for number in range(5):
            add(api, thread_id=f"t{number}", created_at=MAY + timedelta(days=number))
        page = api.list_threads(user_id="ana", row_limit=2, row_offset=1)
        assert [(thread.thread_id, thread.total_count) for thread in page] == [("t3", 5), ("t2", 5)]


class TestClearing:
    @pytest.mark.feature("A11")
    def test_returns_the_number_and_hides_the_messages(self, api: Api) -> None:
        api.talk(**ANA, rounds=2)
        add(api, thread_id="t2")
        assert api.clear_thread(**ANA) == 4
        assert contents(api) == []
        assert contents(api, thread_id="t2") == ["Hello"]
        assert api.clear_thread(**ANA) == 0

    @pytest.mark.feature("A11")
    def test_counts_what_could_be_read(self, api: Api) -> None:
        add(api)
        add(api, "expired", expires_at="2020-01-01")
        assert api.clear_thread(**ANA) == 1
        assert api.value("select count(*) from memory.messages where is_active") == 0

    @pytest.mark.feature("A11")
    def test_spares_other_users(self, api: Api) -> None:
        add(api, user_id="bob")
        assert api.clear_thread(**ANA) == 0
        assert contents(api, user_id="bob") == ["Hello"]

    @pytest.mark.feature("A16")
    def test_leaves_the_rows_readable_until_they_are_swept(self, api: Api) -> None:
        api.talk(**ANA, rounds=1)
        api.clear_thread(**ANA)
        assert [message.is_active for message in api.get_messages(**ANA, include_inactive=True)] == [False, False]
        assert api.value("select count(*) from memory.messages where not is_active") == 2
        assert api.sweep()["messages"] == 2
        assert api.value("select count(*) from memory.messages") == 0

    @pytest.mark.feature("A11")
    def test_drops_the_summary_and_its_job(self, api: Api) -> None:
        api.talk(**ANA, rounds=3)
        api.finish_jobs(summary="Old news.")
        api.talk(**ANA, rounds=3)
        api.clear_thread(**ANA)
        assert api.get_context(**ANA) == []
        assert api.value("select count(*) from memory.jobs where kind = 'summarize_thread' and status = 'pending'") == 0


ROWS_OF_THREADS = ("messages", "summaries", "jobs", "marks where scope <> ''")


class TestDeleting:
    @pytest.fixture
    def rich_thread(self, api: Api) -> None:
        """A thread with a summary, open jobs and an extracted memory, beside what the user wrote down in it."""
        api.talk(**ANA, rounds=5)
        api.finish_jobs(summary="They talked.", memory="Extracted")
        api.talk(**ANA, rounds=5)
        api.add_memory(**ANA, content="Written by hand")
        assert api.value("select count(*) from memory.summaries") == 1
        assert api.value("select count(*) from memory.jobs where status = 'pending'") == 2

    @pytest.mark.feature("D11")
    @pytest.mark.usefixtures("rich_thread")
    def test_removes_messages_summaries_and_jobs(self, api: Api) -> None:
        assert api.delete_thread(**ANA) == 20
        assert [api.query(f"select from memory.{rows}") for rows in ("threads", *ROWS_OF_THREADS)] == [[]] * 5

    @pytest.mark.feature("D11")
    @pytest.mark.usefixtures("rich_thread")
    def test_removes_extracted_memories_and_keeps_the_users_own(self, api: Api) -> None:
        api.delete_thread(**ANA)
        assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Written by hand"]
        assert api.value("select memory_count from memory.memory_scopes") == 1

    @pytest.mark.usefixtures("rich_thread")
    def test_spares_other_threads_and_users(self, api: Api) -> None:
        others: list[dict[str, Any]] = [{"user_id": "ana", "thread_id": "t2"}, {"user_id": "bob", "thread_id": "t1"}]
        for other in others:
            api.talk(**other, rounds=5)
        api.finish_jobs(summary="Others talked.", memory="From the others")
        api.delete_thread(**ANA)
        for other in others:
            assert len(api.get_messages(**other)) == 10
            assert api.get_thread_summary(**other)[0].summary == "Others talked."
        assert [memory.content for memory in api.list_memories(user_id="bob")] == ["From the others"]

    @pytest.mark.usefixtures("rich_thread")
    def test_makes_a_worker_that_still_runs_lose_its_job(self, api: Api) -> None:
        job, *_ = api.claim_jobs(worker="slow", kinds=["extract_memories"])
        api.delete_thread(**ANA)
        result = {"memories": [{"content": "Too late", "memory_type": "fact", "seqs": [10]}]}
        with refused("lease_token", "AM001"):
            api.complete_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, result=result)
        assert [memory.content for memory in api.list_memories(user_id="ana")] == ["Written by hand"]

    @pytest.mark.usefixtures("rich_thread")
    def test_of_the_threads_row_alone_does_the_same_to_what_hangs_on_it(self, api: Api) -> None:
        api.connection.execute("delete from memory.threads")
        assert [api.query(f"select from memory.{rows}") for rows in ROWS_OF_THREADS] == [[]] * 4

    def test_of_an_unknown_thread_deletes_nothing(self, api: Api) -> None:
        add(api, user_id="bob")
        assert api.delete_thread(**ANA) == 0
        assert contents(api, user_id="bob") == ["Hello"]


@pytest.mark.feature("D11")
@pytest.mark.parametrize("function", ["clear_thread", "delete_thread"])
def test_a_thread_with_many_summaries_goes_without_reading_them_again_and_again(api: Api, function: str) -> None:
    add(api)
    api.connection.execute(
        "insert into memory.summaries "
        "(user_id, summary_id, kind, thread_id, summary, start_seq, end_seq, status, base_summary_id) "
        "select 'ana', to_char(n, '\"00000000-0000-0000-0000-\"fm000000000000')::uuid, 'rolling', 't1', "
        "'They talked.', n, n, 'completed', "
        "case when n > 1 then to_char(n - 1, '\"00000000-0000-0000-0000-\"fm000000000000')::uuid end "
        "from generate_series(1, 1000) as n"
    )
    assert api.entries_read(lambda: getattr(api, function)(**ANA)) < 10_000
    assert api.query("select from memory.summaries") == []


@pytest.mark.feature("D10")
def test_appending_does_not_wait_for_a_worker(api: Api, connect: Callable[..., psycopg.Connection]) -> None:
    api.talk(**ANA, rounds=10)
    worker = Api(connect())
    kinds = {job.kind for job in worker.claim_jobs(worker="slow", max_jobs=10)}
    assert kinds == {"extract_memories", "summarize_thread"}  # and its models are thinking now
    api.connection.execute("set lock_timeout = '1s'")
    api.talk(**ANA, rounds=10)
    assert len(contents(api)) == 40


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
        statements, expected = self.CHANGES[change]
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

    @pytest.mark.feature("E14")
    def test_add_up_to_the_users_totals(self, api: Api) -> None:
        for thread, rounds in (("t1", 1), ("t2", 3)):
            api.talk("ana", thread, rounds=rounds)
        api.talk("bob", "t1", rounds=9)
        total = api.value("select sum(message_count) from memory.thread_stats where user_id = 'ana'")
        assert total == 8

    @pytest.mark.feature("E14")
    def test_do_not_count_summaries_and_memories(self, api: Api) -> None:
        api.talk(**ANA, rounds=5)
        api.finish_jobs(memory="Likes tea")
        assert api.list_threads(user_id="ana")[0].message_count == 10


def unparsed(api: Api) -> list[int]:
    """The messages whose words are not kept."""
    return [row.seq for row in api.query("select seq from memory.messages where search_vector is null order by seq")]


def matches(api: Api, query: str = "tea", **arguments: Any) -> list[Any]:
    found: list[Any] = api.search(
        **{"user_id": "ana", "query": query, "mode": "keyword", "sources": ["message"], **arguments}
    )
    return found


@pytest.mark.feature("E4")
class TestWords:
    """Appends do not parse: a job or a sweep keeps a message's words, and until then search parses it."""

    WRITES: ClassVar[dict[str, Callable[[Api], Any]]] = {
        "add_message": lambda api: add(api, "I like tea"),
        "add_messages": lambda api: api.add_messages(**ANA, messages=[{"role": "user", "content": "I like tea"}]),
        "add_messages with keys": lambda api: api.add_messages(
            **ANA, messages=[{"role": "user", "content": "I like tea", "idempotency_key": "k"}]
        ),
        "insert": lambda api: api.connection.execute(
            "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'I like tea')"
        ),
    }

    @pytest.mark.parametrize("write", WRITES)
    def test_a_message_is_found_at_once_and_parsed_later(self, api: Api, write: str) -> None:
        self.WRITES[write](api)
        assert unparsed(api) == [0]
        assert [result.content for result in matches(api)] == ["I like tea"]
        assert api.sweep()["checked"] == 1
        assert unparsed(api) == []
        assert [result.content for result in matches(api)] == ["I like tea"]

    def test_search_finds_the_same_with_the_same_scores_however_many_are_parsed(self, api: Api) -> None:
        for content, metadata in (
            ("Tea or coffee?", {"name": "Lima"}), ("Green tea from Uji, please", {}), ("See docs/tea.md", {}),
            ("お茶が好きです", {}), ("No, nothing", {}), ("Tea, tea and tea again", {"tool_calls": TOOL_CALLS}),
        ):  # fmt: skip
            add(api, content, metadata=metadata, created_at=MAY)
        queries = ["green tea", "what did Lima say in May", "tea.md", "茶", "coffee or tea"]

        def results() -> list[Any]:
            return [matches(api, query, explain=True) for query in queries]

        before = results()
        assert all(before)
        for remaining in (4, 2, 0):
            api.sweep(batch_size=2)
            assert len(unparsed(api)) == remaining
            assert results() == before

    def test_a_message_is_found_by_what_it_says_now(self, api: Api) -> None:
        for is_parsed in (False, True):
            seq = add(api, "I like tea").seq
            if is_parsed:
                api.sweep()
            api.connection.execute("update memory.messages set content = 'I like cocoa' where seq = %s", [seq])
            assert matches(api, "tea") == []
            api.sweep()
            assert (unparsed(api), matches(api, "tea")) == ([], [])
            assert sorted(result.details["seq"] for result in matches(api, "cocoa")) == [*range(seq + 1)]

    def test_more_words_than_a_vector_holds_stop_nothing(self, api: Api) -> None:
        chance = random.Random(1)
        letters = chance.sample([*range(0x3400, 0x9FFF), *range(0xAC00, 0xD7A0)], 30_000)
        runs = " ".join("".join(map(chr, letters[start : start + 240])) for start in range(0, len(letters), 240))
        words = (f"{number:x}abc-def{number:x}" for number in range(100_000))
        text = runs
        while len(text.encode()) < 262_000:
            text += " " + next(words)
        add(api, text[: len(runs)] + text[len(runs) : 262_100 - len(runs.encode()) + len(runs)] + " tea")
        add(api, "green tea")
        assert len(matches(api, "green")) == 1
        assert (api.sweep()["checked"], unparsed(api)) == (2, [])
        api.add_memory(user_id="ana", content=text[: 260_000 - len(runs.encode()) + len(runs)])

    def test_a_sweep_parses_a_few_megabytes_at_most(self, api: Api) -> None:
        for _ in range(20):
            add(api, "tea " * 65_536)
        assert [api.sweep()["checked"] for _ in range(3)] == [15, 5, 0]
        assert unparsed(api) == []

    def test_a_sweep_sees_to_at_most_a_batch(self, api: Api) -> None:
        for thread in ("t1", "t2", "t3"):
            api.talk("ana", thread, rounds=2)
        swept = [(api.sweep(batch_size=5)["checked"], len(unparsed(api))) for _ in range(4)]
        assert swept == [(5, 7), (5, 2), (2, 0), (0, 0)]
        add(api)
        assert (api.sweep()["checked"], unparsed(api)) == (1, [])

    def test_what_a_sweep_has_seen_it_does_not_read_again(self, api: Api) -> None:
        api.talk(**ANA, rounds=250)
        assert api.sweep()["checked"] == 500
        api.talk("bob", "t1", rounds=1)
        assert api.entries_read(lambda: api.value("select memory._finish_unread_messages(10000)")) < 100
        assert unparsed(api) == []

    def test_what_is_cleared_is_not_parsed(self, api: Api) -> None:
        add(api)
        api.clear_thread(**ANA)
        version = api.query("select xmin from memory.messages")
        assert api.value("select memory._finish_unread_messages(10)") == 1
        assert (unparsed(api), api.query("select xmin from memory.messages")) == ([0], version)

    def test_a_thread_that_begins_again_is_seen_to_again(self, api: Api) -> None:
        api.talk(**ANA, rounds=2)
        assert api.sweep()["checked"] == 4
        api.delete_thread(**ANA)
        add(api)
        assert (api.sweep()["checked"], unparsed(api)) == (1, [])

    def test_the_policy_of_the_agent_decides_the_language_and_keeps_it(self, api: Api) -> None:
        api.set_policy(settings={"search": {"language": "german"}}, agent_id="german")
        for agent_id in ("german", "english"):
            add(api, "Besuchte die Häuser", agent_id=agent_id)
        words = "select agent_id, search_vector @@ to_tsquery('german', 'Haus') from memory.messages order by 1"
        api.sweep()
        assert api.query(words) == [("english", False), ("german", True)]
        api.set_policy(settings={"search": {"language": "english"}}, agent_id="german")
        api.sweep()
        api.extract_memories(**ANA)
        [job] = api.claim_jobs(worker="test")
        counted = {"memories": [], "token_counts": {"0": 7, "1": 7}, "token_counter": "dice"}
        api.complete_job(user_id="ana", job_id=job.job_id, lease_token=job.lease_token, result=counted)
        assert api.query("select token_count from memory.messages") == [(7,), (7,)]
        assert api.query(words) == [("english", False), ("german", True)]

    def test_a_sweep_waits_for_nobody_and_sees_to_what_it_skipped_the_next_time(
        self, api: Api, connect: Callable[..., Any]
    ) -> None:
        api.talk(**ANA, rounds=2)
        api.talk("bob", "t1", rounds=1)
        hasty = Api(connect(options="-c statement_timeout=1s"))
        with api.connection.transaction():
            add(api)
            api.connection.execute(
                "update memory.messages set expires_at = 'infinity' where user_id = 'ana' and seq = 2"
            )
            assert hasty.sweep()["checked"] == 4
            assert unparsed(hasty) == [2]
        assert (hasty.sweep()["checked"], unparsed(api)) == (3, [])

    def test_nobody_who_writes_waits_for_a_sweep_which_loses_nothing_when_it_dies(
        self, api: Api, connect: Callable[..., Any]
    ) -> None:
        api.talk(**ANA, rounds=2)
        hasty = Api(connect(options="-c statement_timeout=1s"))
        with api.connection.transaction(force_rollback=True):
            assert api.sweep()["checked"] == 4
            add(hasty)
            assert hasty.sweep()["checked"] == 0
            hasty.extract_memories(**ANA)
            assert hasty.finish_jobs() == 1
        assert (unparsed(api), api.query("select from memory.marks where kind = 'words'")) == ([0, 1, 2, 3], [])
        assert (api.sweep()["checked"], unparsed(api)) == (5, [])


class TestIdempotencyKeys:
    def test_a_repetition_returns_the_stored_message(self, api: Api) -> None:
        first = add(api, idempotency_key="k")
        add(api, "between")
        assert add(api, idempotency_key="k") == first
        assert contents(api) == ["Hello", "between"]

    def test_agent_and_assistant_are_one_role(self, api: Api) -> None:
        assert add(api, role="agent", idempotency_key="k") == add(api, role="assistant", idempotency_key="k")

    @pytest.mark.parametrize("other", [{"content": "Bye"}, {"role": "assistant"}])
    def test_another_message_under_the_key_is_refused(self, api: Api, other: dict[str, str]) -> None:
        add(api, idempotency_key="k")
        with refused("idempotency_key", "23505"):
            add(api, idempotency_key="k", **other)
        assert contents(api) == ["Hello"]

    @pytest.mark.feature("E16")
    @pytest.mark.parametrize("end", ["clear", "expiry", "compression", "direct deletion"])
    @pytest.mark.parametrize("batch", [False, True])
    def test_a_key_counts_when_its_message_is_gone(self, api: Api, end: str, batch: bool) -> None:
        def store(content: str = "Hello", role: str = "user") -> Any:
            if not batch:
                return add(api, content, role=role, idempotency_key="k")
            message = {"role": role, "content": content, "idempotency_key": "k"}
            [stored] = api.add_messages(**ANA, messages=[message])
            return stored

        first = store()
        ends = {
            "clear": "select memory.clear_thread('ana', 't1')",
            "expiry": "update memory.messages set expires_at = '2020-01-01'",
            "compression": "update memory.messages set is_active = false, summary_id = gen_random_uuid();"
            " select memory._set_mark('ana', 't1', 'extract_memories', 0)",
            "direct deletion": "delete from memory.messages",
        }
        api.connection.execute(ends[end])
        api.sweep()
        assert api.query("select from memory.messages") == []
        assert store() == first
        with refused("idempotency_key", "23505"):
            store("Bye")
        with refused("idempotency_key", "23505"):
            store(role="assistant")
        with refused("idempotency_key", "23505"):
            api.connection.execute("""
                insert into memory.messages (user_id, thread_id, role, content, idempotency_key)
                values ('ana', 't1', 'user', 'Hello', 'k')
            """)
        assert api.query("select from memory.messages") == []
        add(api, "next")
        assert (contents(api), api.get_messages(**ANA)[0].seq) == (["next"], 1)

    def test_a_key_goes_with_its_thread(self, api: Api) -> None:
        add(api, idempotency_key="k")
        api.clear_thread(**ANA)
        api.sweep()
        api.delete_thread(**ANA)
        assert api.query("select from memory.idempotency_keys") == []
        add(api, "Something else", idempotency_key="k")
        assert contents(api) == ["Something else"]
        api.delete_thread(**ANA)
        assert api.query("select from memory.idempotency_keys") == []

    @pytest.mark.parametrize("missing", ["role", "content"])
    def test_a_key_does_not_excuse_a_null(self, api: Api, missing: str) -> None:
        add(api, idempotency_key="k")
        nothing: dict[str, Any] = {missing: None}
        with refused(missing):
            add(api, idempotency_key="k", **nothing)

    @pytest.mark.parametrize("other", [{"user_id": "bob"}, {"thread_id": "t2"}])
    def test_a_key_counts_within_its_thread(self, api: Api, other: dict[str, str]) -> None:
        add(api, idempotency_key="k")
        add(api, "Something else", idempotency_key="k", **other)
        assert contents(api, **other) == ["Something else"]

    def test_a_batch_may_mix_messages_with_and_without(self, api: Api) -> None:
        add(api, "b", idempotency_key="2")
        batch = [
            {"role": "user", "content": "a", "idempotency_key": "1"},
            {"role": "user", "content": "b", "idempotency_key": "2"},
            {"role": "user", "content": "c"},
        ]
        assert [(row.seq, row.content) for row in api.add_messages(**ANA, messages=batch)] == [
            (1, "a"), (0, "b"), (2, "c"),
        ]  # fmt: skip
        assert [row.seq for row in api.add_messages(**ANA, messages=batch)] == [1, 0, 3]
        assert contents(api) == ["b", "a", "c", "c"]

    def test_one_key_twice_in_a_batch_stores_once(self, api: Api) -> None:
        twice = [{"role": "user", "content": "a", "idempotency_key": "1"}] * 2
        assert [row.seq for row in api.add_messages(**ANA, messages=twice)] == [0, 0]

    def test_a_repetition_within_a_batch_takes_no_number(self, api: Api) -> None:
        keyed, plain = {"role": "user", "content": "a", "idempotency_key": "1"}, {"role": "user", "content": "b"}
        batch = [keyed, plain, keyed, plain]
        assert [row.seq for row in api.add_messages(**ANA, messages=batch)] == [0, 1, 0, 2]
        assert [row.seq for row in api.add_messages(**ANA, messages=batch)] == [0, 3, 0, 4]

    def test_a_repetition_reads_the_messages_it_repeats_alone(self, api: Api) -> None:
        """Even from a table that is being filled, about which the planner knows nothing."""
        batch = [{"role": "user", "content": str(n), "idempotency_key": str(n)} for n in range(3000)]
        stored = api.add_messages(**ANA, messages=batch)
        again: list[Any] = []
        assert api.entries_read(lambda: again.extend(api.add_messages(**ANA, messages=batch))) < 10 * len(batch)
        assert again == stored
        assert api.entries_read(lambda: [add(api, str(n), idempotency_key=str(n)) for n in range(20)]) < 10 * 20

    def test_a_direct_insert_of_a_used_key_is_refused(self, api: Api) -> None:
        add(api, idempotency_key="k")
        with refused("idempotency_key", "23505"):
            api.connection.execute(
                "insert into memory.messages (user_id, thread_id, role, content, idempotency_key) "
                "values ('ana', 't1', 'user', 'Hello', 'k') on conflict do nothing"
            )

    def test_concurrent_callers_get_one_message(self, api: Api, connect: Callable[..., psycopg.Connection]) -> None:
        """The second waits for the first, whose transaction is open, and then finds its message."""
        second = Api(connect())
        results = []
        with api.connection.transaction():
            results.append(add(api, idempotency_key="k"))
            thread = threading.Thread(target=lambda: results.append(add(second, idempotency_key="k")))
            thread.start()
            thread.join(timeout=0.3)
            assert thread.is_alive()
        thread.join(timeout=10)
        assert results == [results[0]] * 2
        assert contents(api) == ["Hello"]


class TestChatMessages:
    @pytest.mark.parametrize("content", [{"content": None}, {}], ids=["null", "absent"])
    def test_tool_calls_may_have_no_content(self, api: Api, content: dict[str, None]) -> None:
        [stored] = api.add_messages(**ANA, messages=[{"role": "assistant", "tool_calls": TOOL_CALLS, **content}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("", {"tool_calls": TOOL_CALLS})
        assert stored.token_count == message.token_count > 20

    def test_a_tool_result_keeps_its_call(self, api: Api) -> None:
        api.add_messages(**ANA, messages=[{"role": "tool", "tool_call_id": "call_1", "content": "Sunny"}])
        [message] = api.get_messages(**ANA)
        assert (message.role, message.content, message.metadata) == ("tool", "Sunny", {"tool_call_id": "call_1"})

    def test_the_speakers_name_is_kept_beside_other_metadata(self, api: Api) -> None:
        said = {"role": "user", "name": "Ana", "content": "Hi", "metadata": {"channel": "mail"}}
        api.add_messages(**ANA, messages=[said])
        assert api.get_messages(**ANA)[0].metadata == {"name": "Ana", "channel": "mail"}

    def test_content_parts_become_their_text_and_stay_in_metadata(self, api: Api) -> None:
        parts = [
            {"type": "text", "text": "What is this?"},
            {"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}},
            {"type": "text", "text": "A cat?"},
        ]
        api.add_messages(**ANA, messages=[{"role": "user", "content": parts}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("What is this?\nA cat?", {"content": parts})

    @pytest.mark.parametrize(
        "said",
        [
            {"content": [{"type": "image_url", "image_url": {"url": "https://example.org/cat.png"}}]},
            {"content": None, "refusal": "I cannot help with that."},
            {"content": None, "audio": {"id": "audio_1"}},
            {"content": None, "function_call": {"name": "weather", "arguments": "{}"}},
        ],
        ids=["image", "refusal", "audio", "function call"],
    )
    def test_what_has_no_text_may_have_none(self, api: Api, said: dict[str, Any]) -> None:
        api.add_messages(**ANA, messages=[{"role": "assistant", **said}])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("", {key: value for key, value in said.items() if value})

    def test_the_null_members_of_a_dumped_reply_are_ignored(self, api: Api) -> None:
        dumped: dict[str, Any] = {
            "content": "Hi!", "refusal": None, "role": "assistant", "annotations": [], "audio": None,
            "function_call": None, "tool_calls": None, "something_new": None,
        }  # fmt: skip
        api.add_messages(**ANA, messages=[dumped])
        [message] = api.get_messages(**ANA)
        assert (message.content, message.metadata) == ("Hi!", {})

    def test_an_unknown_member_is_refused_with_the_known_ones(self, api: Api) -> None:
        with refused("messages") as refusal:
            api.add_messages(**ANA, messages=[{"role": "user", "content": "Hi", "contnet": "Ho"}])
        assert "contnet" in str(refusal.value)
        assert "tool_call_id" in (refusal.value.diag.message_hint or "")
        assert api.list_threads(user_id="ana") == []
