"""Tokens behind PgBouncer in transaction mode: one server connection serves all clients in turn."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.errors import AgentMemoryError, PermissionDeniedError
from psycopg_pool import ConnectionPool

from tests.support.pgbouncer import bouncing, needs_pgbouncer
from tests.support.servers import Server
from tests.support.sqlapi import Api
from tests.tenants.steps import token_of

pytestmark = needs_pgbouncer

Bouncer = Callable[..., str]


@pytest.fixture
def bouncer(users: Api, server: Server, dsn: str) -> Iterator[Bouncer]:
    """Start a PgBouncer before the test's database with one server connection; it returns where it listens."""
    assert users.tenant_user() is None
    with ExitStack() as stack:
        yield lambda **settings: stack.enter_context(bouncing(server, dsn, "tenant_by_token", **settings))


def plain(there: str) -> psycopg.Connection:
    return psycopg.connect(there, autocommit=True, prepare_threshold=None)


@pytest.mark.feature("F9")
@pytest.mark.parametrize("prepare", [None, False])
def test_clients_of_two_users_take_turns_on_one_connection(bouncer: Bouncer, prepare: bool | None) -> None:
    # Debian's PgBouncer is older than 1.21: it does not know prepared statements.
    there = bouncer()
    names = ["ana", "bob"] * 4

    def use(user_id: str) -> None:
        with Memory(there, token=token_of(user_id), embed_queries=False, prepare=prepare) as memory:
            for _ in range(10):
                memory.add_message(user_id, "t2", "user", f"I am {user_id}")
                assert {row.content for row in memory.get_messages(user_id, "t2")} == {f"I am {user_id}"}
                with pytest.raises(PermissionDeniedError, match="not the user of this session"):
                    memory.list_memories("bob" if user_id == "ana" else "ana")

    with ThreadPoolExecutor(len(names)) as threads:
        list(threads.map(use, names))


def test_statements_that_were_prepared_in_the_session_of_another_client_are_explained(bouncer: Bouncer) -> None:
    there = bouncer()

    def use(user_id: str) -> None:
        pool = ConnectionPool(there, min_size=1, max_size=1, kwargs={"autocommit": True}, open=True)
        with pool, Memory(pool, token=token_of(user_id), embed_queries=False) as memory:
            for _ in range(10):
                memory.get_messages(user_id, "t2")

    use("ana")
    with pytest.raises(AgentMemoryError, match=r"pooler such as PgBouncer before 1\.21") as caught:
        use("ana")
    assert caught.value.sqlstate == "42P05"
    assert "prepare=False" in str(caught.value.hint)
    assert "prepare_threshold=None" in str(caught.value.hint)


def test_a_token_of_a_transaction_is_gone_for_the_next_client(bouncer: Bouncer) -> None:
    there = bouncer()
    with closing(plain(there)) as first, closing(plain(there)) as second:
        with first.transaction():
            first.execute("select set_config('agent_memory.token', %s, true)", [token_of("ana")])
            assert first.execute("select memory.tenant_user()").fetchone() == ("ana",)
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not set"):
            second.execute("select memory.tenant_user()")


def test_a_token_that_was_set_for_the_session_is_gone_with_a_reset_after_each_transaction(bouncer: Bouncer) -> None:
    setting = "select set_config('agent_memory.token', %s, false)"
    there = bouncer()
    with closing(plain(there)) as first, closing(plain(there)) as second:
        first.execute(setting, [token_of("ana")])
        assert second.execute("select memory.tenant_user()").fetchone() == ("ana",)  # which docs/tenants.md warns of
        with second.transaction():  # a client that sets its own is not touched by it
            second.execute("select set_config('agent_memory.token', %s, true)", [token_of("bob")])
            assert second.execute("select memory.tenant_user()").fetchone() == ("bob",)
    safe = bouncer(server_reset_query_always="1")
    with closing(plain(safe)) as first, closing(plain(safe)) as second:
        first.execute(setting, [token_of("ana")])
        with pytest.raises(psycopg.errors.InsufficientPrivilege, match="not set"):
            second.execute("select memory.tenant_user()")
