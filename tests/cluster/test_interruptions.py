"""What else happens while users move: commands that are killed, direct changes, old transactions, rows gone astray."""

from __future__ import annotations

import contextlib
import time
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import psycopg
import pytest
from agent_memory import Memory, NotConnectedError, RetryableError, partition_of
from agent_memory.cluster import checks, moving, nodes, splitting
from agent_memory.errors import ConflictError, InvalidValueError
from agent_memory.move.move import copy_user
from psycopg.conninfo import make_conninfo
from psycopg.types.json import Jsonb

from tests.cluster.databases import PARTITIONS, USERS, Databases, expected, fill
from tests.support.runners import PATIENCE, wait_until
from tests.tenants.steps import login_role

pytestmark = pytest.mark.feature("F14")


def test_direct_changes_of_users_who_are_being_moved_are_refused(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    databases.begin("ab", "a" * PARTITIONS)
    user = USERS[0]
    refused = []
    with Memory(databases.dsn["a"]) as memory, databases.api("a") as api:
        memory.add_message(user, "t", "user", "Hello")
        memory.add_memory(user, "Likes tea")
        role = login_role(api.connection, "writer_of_cluster")
        api.connection.execute(f"grant usage on schema memory to {role}".encode())
        api.connection.execute(f"grant select, update, delete on all tables in schema memory to {role}".encode())

        def change(table: str, statement: str) -> None:
            with psycopg.connect(make_conninfo(databases.dsn["a"], user=role)) as connection:
                connection.execute(statement.format(table).encode(), [user])

        def copying(*arguments: Any) -> Any:
            copied = copy_user(*arguments)
            for table in ("messages", "memories"):
                for statement in (
                    "update memory.{} set metadata = '{{}}' where user_id = %s",
                    "delete from memory.{} where user_id = %s",
                ):
                    with pytest.raises(psycopg.errors.LockNotAvailable):
                        change(table, statement)
                    refused.append(table)
            return copied

        change("messages", "update memory.{} set content = 'Hi' where user_id = %s")
        monkeypatch.setattr(moving, "copy_user", copying)
        with databases.opened() as opened:
            assert moving.move_user(opened, user, "b") == 1
    assert len(refused) == 4
    assert databases.rows("b") == {user: ["Hi"]}


def test_a_statement_that_was_checked_before_the_first_map_leaves_no_row_unseen(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits between the check and its first lock. The command waits for its transaction, then names the user."""
    with databases.api("a") as gate, databases.api("a") as writer, ThreadPoolExecutor() as pool:
        gate.connection.execute("create table public.gate ()")
        gate.connection.execute("""
            create or replace function memory._estimate_tokens(p_content text) returns int language plpgsql as $$
            begin lock table public.gate in access share mode; return 1; end $$""")
        monkeypatch.setattr(nodes, "install", lambda _connection: None)  # which would make the function anew
        user = next(user for user in USERS if partition_of(user, PARTITIONS) == 7)
        with writer.connection.transaction():
            with gate.connection.transaction():
                gate.connection.execute("lock table public.gate in access exclusive mode")
                call = pool.submit(writer.add_message, user_id=user, thread_id="t", role="user", content="Hello")
                wait_until(lambda: gate.value("select count(*) from pg_locks where not granted") == 1)
                begun = pool.submit(databases.begin, "ab", "aaaabbbb")
                wait_until(lambda: gate.value("select count(*) from memory.cluster_map") == 1)
                time.sleep(0.5)
                assert not begun.done()
            call.result(PATIENCE)
            time.sleep(0.5)
            assert not begun.done()  # the statement has ended, its transaction has not
        with pytest.raises(ConflictError, match=f'user "{user}" is on node "a", and would belong to node "b"'):
            begun.result(PATIENCE)
    with databases.opened() as opened:
        assert all(finding.is_mended for finding in checks.check(opened, repair=True))
    assert databases.rows("b") == {user: ["Hello"]}


class TestBrokenOff:
    """Other commands after a move that was killed while it copied."""

    @pytest.fixture
    def place(self, databases: Databases) -> int:
        """A partition of node a that is half copied to b."""
        databases.begin("abc", "a" * PARTITIONS)
        fill(databases)
        place = next(
            place for place in range(PARTITIONS) if sum(partition_of(user, PARTITIONS) == place for user in USERS) > 1
        )

        def kill(_user: str, number: int, _total: int) -> None:
            if number == 1:
                raise KeyboardInterrupt

        with contextlib.suppress(KeyboardInterrupt), databases.opened() as opened:
            moving.move_partition(opened, place, "b", kill)
        assert len(databases.rows("b")) == 1
        return place

    def test_another_move_a_split_and_then_a_move_to_another_node(self, databases: Databases, place: int) -> None:
        with databases.opened() as opened:
            moving.move_partition(opened, (place + 1) % PARTITIONS, "b")
            assert {finding.what for finding in checks.check(opened)} == {"moves"}
            opened.nodes["c"].map = opened.nodes["a"].map  # as a standby of a has it
            with pytest.raises(InvalidValueError, match=f"^{place} is being moved"):
                splitting.split(opened, "a", "c", [(place + 2) % PARTITIONS])
            opened.nodes["c"].read_map()
            moving.move_partition(opened, place, "c")
            assert list(checks.check(opened)) == []
        assert databases.rows("b").keys() == {
            user for user in USERS if partition_of(user, PARTITIONS) == (place + 1) % PARTITIONS
        }

    def test_it_is_taken_back_while_the_target_is_out_of_reach(self, databases: Databases, place: int) -> None:
        dead = Jsonb("host=127.0.0.1 port=1 dbname=app")
        for name in "abc":
            with databases.api(name) as api:
                api.connection.execute("update memory.cluster_map set nodes = jsonb_set(nodes, '{b,dsn}', %s)", [dead])
        with pytest.raises(NotConnectedError, match='node "b"'), databases.opened():
            pass
        with nodes.opened(databases.dsn["a"], without=True) as opened:
            assert ("b", "connection") in {(finding.node, finding.what) for finding in checks.check(opened)}
            with pytest.raises(NotConnectedError, match='node "b"'):
                moving.move_partition(opened, place, "c")
            assert moving.move_partition(opened, place, "a") == 0
        assert databases.rows("a") == expected()
        with Memory(databases.dsn["a"]) as memory:
            for user in USERS:
                memory.add_message(user, "t", "user", "more")


def test_no_job_is_made_for_a_user_of_another_node(databases: Databases) -> None:
    databases.begin("ab", "a" * PARTITIONS)
    user = USERS[0]
    with Memory(databases.dsn["a"]) as memory:
        memory.add_memory(user, "Likes tea")
        memory.admin.register_model("m", "embedding", "openai", "m")
    with databases.opened() as opened:
        moving.move_user(opened, user, "b")
    with databases.api("a") as api:
        job = "insert into memory.jobs (user_id, kind) values (%s, 'embed')"
        assert api.connection.execute(job, [user]).rowcount == 0


def test_a_move_waits_for_a_transaction_that_wrote_before_the_first_map(
    databases: Databases, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = USERS[0]
    place = partition_of(user, PARTITIONS)
    with psycopg.connect(databases.dsn["a"]) as old:
        old.execute('select memory.set_policy(\'{"context": {"max_memories": 3}}\', user_id => %s)', [user])
        databases.begin("ab", "a" * PARTITIONS)
        monkeypatch.setattr(nodes, "WRITERS_PATIENCE", 0.2)
        with databases.opened() as opened, pytest.raises(RetryableError, match='node "a": a transaction that writes'):
            moving.move_partition(opened, place, "b")
        old.commit()
        with databases.opened() as opened:
            assert moving.move_partition(opened, place, "b") == 1
    with databases.api("b") as api:
        assert api.get_policy(user_id=user)["context"]["max_memories"] == 3
