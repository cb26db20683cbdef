"""What a search and a sweep read as the threads of a user become more, and what a search of many messages finds."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import psycopg
import pytest

from tests.conftest import Database
from tests.support.sqlapi import Api, rolled_back

FEW, MANY = 1200, 5000  # threads; the number of a user's messages is looked up in 1,000 of them at most
MESSAGES = 3
"""Of each thread."""
STORE = """
with said as materialized (
  select 't' || n / %(per)s as thread_id, n %% %(per)s as seq,
    concat_ws(' ', 'fern', 'moss' || n, case when n %% 11 = 0 then 'theorbo' when n %% 7 = 1 then 'boat'
              when n %% 5 = 3 then 'lamp' end) as content
  from generate_series(0, %(per)s * %(threads)s - 1) as n
), parsed as materialized (
  select s.*, to_tsvector('english', s.content) as words from said as s
), messages as (
  insert into memory.messages (user_id, thread_id, seq, role, content, token_count, created_at, updated_at, expires_at)
  select %(user)s, p.thread_id, p.seq, 'user', p.content, 5, '2026-01-01', '2026-01-01', 'infinity'
  from parsed as p
), texts as (
  insert into memory.texts (user_id, source, id, thread_id, number, agent_id, created_at, valid_until, words, keys)
  select %(user)s, 'message', p.thread_id || '/' || p.seq, p.thread_id, p.seq, 'default', '2026-01-01', 'infinity',
    p.words, array(select memory._word_key(%(user)s, k) from unnest(tsvector_to_array(p.words)) as k)
  from parsed as p
), threads as (
  insert into memory.threads (user_id, thread_id, next_seq, message_count, active_tokens, first_at, last_at)
  select %(user)s, p.thread_id, count(*), count(*), 5 * count(*), '2026-01-01', '2026-01-01' from parsed as p group by 2
)
insert into memory.marks (user_id, kind, scope, position)
select %(user)s, 'words', p.thread_id, max(p.seq) from parsed as p group by 3
"""


@pytest.fixture(scope="module")
def _large(_database: Database, _template: str) -> Iterator[Api]:
    with (
        _database("large_users", _template) as conninfo,
        psycopg.connect(conninfo, autocommit=True) as connection,
    ):
        api = Api(connection)
        with connection.transaction():
            connection.execute("set local session_replication_role = replica")
            for user, threads in (("few", FEW), ("many", MANY)):
                connection.execute(STORE, {"user": user, "threads": threads, "per": MESSAGES})
        api.sweep()
        connection.execute("vacuum analyze")
        yield api


@pytest.fixture
def large(_large: Api) -> Iterator[Api]:
    with rolled_back(_large) as api:
        yield api


def found(api: Api, user: str, query: str) -> list[str]:
    return [f.id for f in api.search(user_id=user, query=query, mode="keyword", sources=["message"], top_k=3)]


def test_a_search_does_not_read_all_threads_of_its_user(large: Api) -> None:
    few, many = [large.entries_read(partial(found, large, user, "moss7")) for user in ("few", "many")]
    assert many < few + 200


def test_a_sweep_and_the_next_search_read_only_threads_that_are_not_parsed(large: Api) -> None:
    assert large.value("select count(*) from memory.threads where settled_at is null") == 0
    large.add_message(user_id="many", thread_id="t9", role="user", content="A bassoon")
    assert found(large, "many", "bassoon") == ["t9/3"]
    assert large.entries_read(lambda: large.value("select memory._finish_unread_messages(1000)")) < 100
    assert large.value("select memory._is_parsed('many', 'message', 't9/3')")
    assert found(large, "many", "bassoon") == ["t9/3"]


def test_pages_of_threads_are_in_order_whether_a_sweep_has_seen_them_or_not(api: Api) -> None:
    def add(thread: str, day: int) -> None:
        api.add_message(user_id="ana", thread_id=thread, role="user", content="Tea", created_at=f"2026-01-{day:02}")

    for number in range(1, 9):
        add(f"t{number}", number // 2 + 1)
    api.set_thread(user_id="ana", thread_id="a", title="Without messages")
    api.set_thread(user_id="ana", thread_id="b", title="Without messages")
    api.sweep()
    assert api.value("select count(*) from memory.threads where settled_at is null") == 0
    add("t5", 1)  # older than its last one
    add("t2", 3)
    api.set_thread(user_id="ana", thread_id="ab", title="Without messages")
    api.copy_thread(user_id="ana", thread_id="t8", new_thread_id="t80", upto_seq=0)
    pages = [api.list_threads(user_id="ana", row_limit=3, row_offset=start) for start in range(0, 15, 3)]
    assert [thread.thread_id for page in pages for thread in page] == [
        *["t8", "t80", "t6", "t7", "t2", "t4", "t5", "t3", "t1", "a", "ab", "b"]
    ]
    assert {thread.total_count for page in pages for thread in page} == {12}
