"""Triggers of an application's own on memory.messages: they may change, leave out and add messages."""

from __future__ import annotations

from typing import Any

import psycopg
import pytest

from tests.messages.steps import ANA, add, contents
from tests.support.sqlapi import Api, refused

BATCH = [{"role": "user", "content": content} for content in ("one", "two", "three")]
PLAIN = "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 'log', 'user', new.content)"
FUNCTION = "perform memory.add_message('ana', 'log', 'user', new.content)"
FUNCTION_OF_MANY = (
    "perform memory.add_messages('ana', 'log', jsonb_build_array(jsonb_build_object("
    "'role', 'user', 'content', new.content)))"
)


def keyed(batch: list[dict[str, str]]) -> list[dict[str, str]]:
    return [{**message, "idempotency_key": message["content"]} for message in batch]


def on_insert(db: psycopg.Connection, body: str, when: str = "before") -> None:
    db.execute(f"create function mine() returns trigger language plpgsql as $$ begin {body} return new; end $$")
    db.execute(f"create trigger a_first {when} insert on memory.messages for each row execute function mine()")


def agrees(api: Api) -> None:
    """The counters of each thread are those of its messages."""
    wrong = api.query(
        "select t.thread_id, t.message_count, t.active_tokens, t.tokens_since_summary from memory.threads as t "
        "cross join lateral (select count(*) as messages, coalesce(sum(m.token_count), 0) as tokens "
        "from memory.messages as m where m.user_id = t.user_id and m.thread_id = t.thread_id) as m "
        "where (t.message_count, t.active_tokens, t.tokens_since_summary) <> (m.messages, m.tokens, m.tokens)"
    )
    assert wrong == []


@pytest.mark.parametrize(("when", "statement"), [("before", PLAIN), ("after", FUNCTION), ("before", FUNCTION_OF_MANY)])
def test_a_trigger_may_add_a_message_to_another_thread(
    api: Api, db: psycopg.Connection, when: str, statement: str
) -> None:
    on_insert(db, f"if new.thread_id = 't1' then {statement}; end if;", when)
    with db.transaction():
        assert add(api, "zero").seq == 0
        assert [row.seq for row in api.add_messages(**ANA, messages=BATCH)] == [1, 2, 3]
        assert [row.seq for row in api.add_messages(**ANA, messages=keyed(BATCH[:1]))] == [4]
        db.execute("insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'x')")
        # The numbers of the calls are all used, so a row with a number is refused again.
        with refused("seq"), db.transaction():
            db.execute(
                "insert into memory.messages (user_id, thread_id, seq, role, content) "
                "values ('ana', 't2', 7, 'user', 'x')"
            )
    assert contents(api) == contents(api, thread_id="log") == ["zero", "one", "two", "three", "one", "x"]
    agrees(api)


@pytest.mark.parametrize("batch", [BATCH, keyed(BATCH)])
def test_add_messages_returns_the_content_that_a_trigger_has_changed(
    api: Api, db: psycopg.Connection, batch: list[dict[str, str]]
) -> None:
    on_insert(db, "new.content := replace(new.content, 'two', '*'); new.token_count := 7;")
    stored = api.add_messages(**ANA, messages=batch)
    assert [(row.content, row.token_count) for row in stored] == [("one", 7), ("*", 7), ("three", 7)]
    assert contents(api) == ["one", "*", "three"]


@pytest.mark.parametrize(
    ("said", "numbers", "next_seq", "with_keys"),
    [
        (["spam", "one", "spam", "two"], [None, 2, None, 4], 5, True),
        (["one", "spam", "spam"], [1, None, None], 2, False),
        (["spam", "spam"], [None, None], 1, True),
    ],
)
def test_messages_that_a_trigger_leaves_out_of_a_batch_are_not_counted(
    api: Api, db: psycopg.Connection, said: list[str], numbers: list[Any], next_seq: int, with_keys: bool
) -> None:
    on_insert(db, "if new.content like 'spam%' then return null; end if;")
    add(api, "zero")
    batch = [{"role": "user", "content": f"{content} {place}"} for place, content in enumerate(said)]
    stored = api.add_messages(**ANA, messages=keyed(batch) if with_keys else batch)
    assert [row.seq for row in stored] == numbers
    agrees(api)
    [thread] = api.query("select next_seq, last_at from memory.threads")
    assert thread.next_seq == next_seq
    assert thread.last_at == api.value("select max(created_at) from memory.messages")
