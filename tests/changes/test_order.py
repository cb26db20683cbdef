"""list_changes: a page that was read never gets a row before its end, whatever the order of commits."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

import psycopg
import pytest

from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F35")

Connect = Callable[..., psycopg.Connection]


@contextmanager
def transaction(connect: Connect, *, gives_up: bool = False) -> Iterator[Api]:
    """A transaction of a session of its own."""
    with connect().transaction(force_rollback=gives_up) as begun:
        yield Api(begun.connection)


def remember(api: Api, content: str) -> None:
    api.add_memory(user_id=f"user of {content}", content=content)


def read(api: Api, after: int | None = None) -> list[tuple[int, str]]:
    """Numbers and users of what is new."""
    return [(row.change_id, row.user_id) for row in api.list_changes(after=after, row_limit=1000)]


def test_a_transaction_that_began_first_and_commits_last_is_numbered_last(api: Api, connect: Connect) -> None:
    with transaction(connect) as slow:
        remember(slow, "slow")
        with transaction(connect) as quick:
            remember(quick, "quick")
        [(first, user)] = read(api)
        assert user == "user of quick"
        assert read(api, first) == []
    [(second, user)] = read(api, first)
    assert (user, second > first) == ("user of slow", True)


def test_what_is_rolled_back_is_not_listed(api: Api, connect: Connect) -> None:
    with transaction(connect, gives_up=True) as given_up:
        remember(given_up, "given up")
    with connect() as session, session.transaction():
        kept = Api(session)
        remember(kept, "kept")
        with session.transaction(force_rollback=True):
            remember(kept, "inner, given up")
        with session.transaction():
            remember(kept, "inner, kept")
        assert read(api) == []
    assert [user for _, user in read(api)] == ["user of kept", "user of inner, kept"]


def test_a_reader_that_rolls_back_has_given_no_number_that_comes_again(api: Api, connect: Connect) -> None:
    remember(api, "one")
    with transaction(connect, gives_up=True) as reader:
        [(seen, _)] = read(reader)
    remember(api, "two")
    assert [user for _, user in read(api, seen)] == ["user of one", "user of two"]


def test_a_reader_beside_another_waits_for_nobody_and_misses_nothing(api: Api, connect: Connect) -> None:
    remember(api, "one")
    api.connection.execute("set lock_timeout = '1s'")
    with transaction(connect) as reader:
        assert len(read(reader)) == 1  # its numbers are not committed
        remember(api, "two")
        assert read(api) == []
    first, second = read(api)
    assert (first[1], second[1]) == ("user of one", "user of two")
    assert first < second


def test_the_changes_of_one_thing_stand_in_their_order(api: Api, connect: Connect) -> None:
    memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
    with transaction(connect) as early:
        remember(early, "early")  # its transaction has the lower number
        api.update_memory(user_id="ana", memory_id=memory_id, content="Likes green tea")
        early.delete_memory(user_id="ana", memory_id=memory_id)
    operations = [row.operation for row in api.list_changes(user_id="ana")]
    assert operations == ["added", "changed", "deleted"]


def test_writers_wait_for_no_reader(api: Api, connect: Connect) -> None:
    remember(api, "one")
    with transaction(connect) as reader:
        read(reader)
        api.connection.execute("set lock_timeout = '1s'")
        remember(api, "two")
        api.sweep()
        api.add_message(user_id="ana", thread_id="t", role="user", content="Hello")
