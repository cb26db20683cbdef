"""agent-memory cluster: nodes are made, added and compared, and users move between them while others work."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory, RetryableError, partition_of
from agent_memory.cluster import checks, moving, nodes, nodes_file
from agent_memory.errors import ConflictError, InvalidValueError, NotFoundError
from agent_memory.move.move import copy_user
from psycopg.conninfo import conninfo_to_dict
from psycopg.types.json import Jsonb

from tests.cli.conftest import run
from tests.cluster.databases import PARTITIONS, USERS, Databases, expected, fill
from tests.support.servers import Run

pytestmark = pytest.mark.feature("F14")

__all__ = ["run"]  # the fixture


@pytest.fixture
def dsn(databases: Databases) -> str:
    return databases.dsn["a"]


class TestBeginning:
    """init and add."""

    def test_partitions_are_shared_evenly_unless_the_file_says_otherwise(self, tmp_path: Path) -> None:
        path = tmp_path / "nodes.toml"
        path.write_text(
            '[nodes.a]\ndsn = "host=h dbname=a user=u password=p sslpassword=q"\n[nodes.b]\ndsn = "postgresql://h/b"\n'
        )
        file = nodes_file.read(path)
        assert file.assignment() == ["a"] * 32 + ["b"] * 32
        assert {name: conninfo_to_dict(dsn) for name, dsn in file.dsn.items()} == {
            name: {"host": "h", "dbname": name} for name in "ab"
        }
        path.write_text(
            '[cluster]\npartitions = 8\n[nodes.a]\ndsn = "dbname=a"\npartitions = "0-5,7"\n'
            '[nodes.b]\ndsn = "dbname=b"\npartitions = "6"\n[nodes.c]\ndsn = "dbname=c"\n'
        )
        assert "".join(nodes_file.read(path).assignment()) == "aaaaaaba"

    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("", "it names no nodes"),
            ("[nodes.a]\ndsn = 7", "nodes.a.dsn is no connection string"),
            ("[nodes.a]\ndsn = 'dbname=a'\npartitions = 'x'", "must look like"),
            ("[nodes.a]\ndsn = 'dbname=a'\npartitions = '0-62'", "partition 63 belongs to no node"),
            (
                "[nodes.a]\ndsn = 'dbname=a'\npartitions = '0-63'\n[nodes.b]\ndsn = 'dbname=b'\npartitions = '1'",
                "partition 1 belongs to a and to b",
            ),
            ("[nodes", "nodes.toml: "),
        ],
    )
    def test_a_file_that_names_no_cluster_says_why(self, tmp_path: Path, text: str, said: str) -> None:
        path = tmp_path / "nodes.toml"
        path.write_text(text)
        with pytest.raises(InvalidValueError, match=said):
            nodes_file.read(path).assignment()

    @pytest.mark.compares_words  # a node without users has no policy of its own, and gets that of the first
    def test_a_server_with_users_becomes_a_cluster(self, databases: Databases) -> None:
        fill(databases)
        with Memory(databases.dsn["a"]) as memory:
            memory.admin.register_model("m", "chat", "openai", "m")
            memory.admin.set_policy({"context": {"max_memories": 3}})
        with pytest.raises(ConflictError, match='is on node "a", and would belong to node "b"'):
            databases.begin("ab", "abababab")
        databases.begin("ab", "aaaaaaaa")
        databases.begin("ab", "aaaaaaaa")  # again changes nothing
        with databases.api("b") as api:
            assert api.get_policy()["context"]["max_memories"] == 3
            assert api.value("select count(*) from memory.models where name = 'm'") == 1
        with databases.opened() as opened:
            assert list(checks.check(opened)) == []

    @pytest.mark.parametrize("state", ["active", "dropped"])
    def test_models_are_the_same_from_the_start(self, databases: Databases, state: str) -> None:
        with databases.api("a") as api:
            if state == "active":
                api.register_model(name="m", kind="embedding", provider="openai", model="text-embedding-3-small")
                api.activate_model(name="m")
                api.register_model(name="chat", kind="chat", provider="openai", model="gpt-5")
                api.activate_model(name="chat")
            else:
                api.deactivate_model(name="local")
                api.drop_model(name="local")
            api.add_memory(user_id=USERS[0], content="Likes tea")
        databases.begin("ab", "a" * PARTITIONS)
        with databases.opened() as opened:
            assert list(checks.check(opened)) == []
            moving.move_user(opened, USERS[0], "b")
            assert list(checks.check(opened)) == []

    def test_a_further_node_starts_without_users(self, databases: Databases) -> None:
        databases.begin("ab", "aaaabbbb")
        places = {name: databases.place(name) for name in "abc"}
        with databases.opened() as opened:
            assert nodes.add(opened, places, databases.dsn["a"]) == ["c"]
        with databases.opened() as opened:
            assert nodes.add(opened, places, databases.dsn["a"]) == []
            assert opened.newest.nodes["c"] == {"dsn": places["c"], "number": 2}
            assert list(checks.check(opened)) == []

    def test_a_single_server_is_no_cluster(self, databases: Databases) -> None:
        with pytest.raises(NotFoundError, match="is no node of a cluster"), databases.opened():
            pass


class TestMoving:
    """Users change their node."""

    @pytest.fixture
    def databases(self, databases: Databases) -> Databases:
        databases.begin("abc", "aaaabbbb")
        fill(databases)
        return databases

    def test_a_partition_moves_with_all_that_its_users_have(self, databases: Databases) -> None:
        place = partition_of(USERS[0], PARTITIONS)
        moved = {user for user in USERS if partition_of(user, PARTITIONS) == place}
        with databases.opened() as opened:
            source = opened.newest.partitions[place]
            assert moving.move_partition(opened, place, "c") == len(moved)
            assert moving.move_partition(opened, place, "c") == 0
            assert list(checks.check(opened)) == []
        assert databases.rows("c") == {user: contents for user, contents in expected().items() if user in moved}
        assert not databases.rows(source).keys() & moved
        with databases.api(source) as api:
            assert api.value("select count(*) from memory.tombstones") == 0
            left = [
                table
                for [table] in api.query(
                    "select table_name from information_schema.columns"
                    " where table_schema = 'memory' and column_name = 'user_id'"
                )
                if table not in ("audit",)
                and api.connection.execute(
                    psycopg.sql.SQL("select from {} where user_id = any (%s)").format(
                        psycopg.sql.Identifier("memory", table)
                    ),
                    [list(moved)],
                ).fetchall()
            ]
            assert left == []
        with Memory(databases.dsn["a"]) as memory:
            for user in USERS:
                assert [message.content for message in memory.get_messages(user, "t")] == expected()[user]
                assert len(memory.list_memories(user)) == 1
                assert memory.add_message(user, "t", "user", "more").seq == 12
                assert memory.extract_memories(user, "t")

    def test_a_user_moves_alone_and_back(self, databases: Databases) -> None:
        user = USERS[0]
        with databases.opened() as opened:
            home = opened.newest.node_of(user)
            assert moving.move_user(opened, user, "c") == 1
            assert list(databases.rows("c")) == [user]
            with Memory(databases.dsn["a"]) as memory:
                assert memory.add_message(user, "t", "user", "more").seq == 12
            assert moving.move_user(opened, user, home) == 1
            assert opened.newest.users == {}
            assert list(checks.check(opened)) == []
            with pytest.raises(NotFoundError, match='no node "z"'):
                moving.move_partition(opened, 0, "z")
            with pytest.raises(InvalidValueError, match="no partition 8"):
                moving.move_partition(opened, PARTITIONS, "c")
            with pytest.raises(RetryableError, match="another command"), databases.opened():
                pass
        assert databases.rows("c") == {}
        assert databases.rows(home)[user][-1] == "more"

    def test_a_move_that_is_broken_off_goes_on(self, databases: Databases, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each write of a map and each copy may be the last thing that a command does, before or after."""
        place = partition_of(USERS[0], PARTITIONS)

        class StoppedError(Exception):
            """The command is killed."""

        def stopping(function: Callable[..., Any]) -> Callable[..., Any]:
            def call(*arguments: Any, **named: Any) -> Any:
                if next(stops):
                    raise StoppedError
                return function(*arguments, **named)

            return call

        for step, target in zip((0, 1, 4, 5, 6), "cacac", strict=True):
            stops = iter([number == step for number in range(100)])
            with monkeypatch.context() as patch:
                patch.setattr(nodes.Nodes, "write_into", stopping(nodes.Nodes.write_into))
                patch.setattr(moving, "copy_user", stopping(copy_user))
                with pytest.raises(StoppedError), databases.opened() as opened:
                    moving.move_partition(opened, place, target)
            with databases.opened() as opened:
                moving.move_partition(opened, place, target)
                assert list(checks.check(opened)) == []
            found: dict[str, list[str]] = {}
            for name in "abc":
                rows = databases.rows(name)
                assert not rows.keys() & found.keys()
                found |= rows
            assert found == expected()


class TestDoctor:
    """What nodes must have in common."""

    def test_a_node_that_missed_a_change_is_named_and_mended(self, databases: Databases) -> None:
        databases.begin("abc", "aaabbbcc")
        with databases.api("b") as api:
            api.set_policy(settings={"context": {"max_memories": 3}})
            api.register_model(name="m", kind="chat", provider="openai", model="m")
            api.connection.execute("insert into memory.memory_types values ('mood', 'Moods', 'How the user feels')")
            api.connection.execute("update memory.memory_types set heading = 'F' where memory_type = 'fact'")
        with databases.opened() as opened:
            found = {(finding.node, finding.what) for finding in checks.check(opened)}
            assert found == {("b", "policies"), ("b", "models"), ("b", "memory_types")}
            assert all(finding.is_mended for finding in checks.check(opened, repair=True))
            assert list(checks.check(opened)) == []

    def test_a_node_that_was_restored_from_a_backup_is_named_and_mended(self, databases: Databases) -> None:
        databases.begin("ab", "a" * PARTITIONS)
        fill(databases)
        place = partition_of(USERS[0], PARTITIONS)
        with databases.opened() as opened, databases.api("a") as api:
            [old_map] = api.query("select to_jsonb(m) from memory.cluster_map as m")
            [thread] = api.query("select to_jsonb(t) from memory.threads as t where user_id = %(user)s", user=USERS[0])
            moving.move_partition(opened, place, "b")
            for table, row in (("cluster_map", old_map[0]), ("threads", thread[0])):  # as a backup would have them
                api.connection.execute("delete from memory.cluster_map" if table == "cluster_map" else "select 1")
                api.connection.execute(
                    psycopg.sql.SQL("insert into {0} select r.* from jsonb_populate_record(null::{0}, %s) as r").format(
                        psycopg.sql.Identifier("memory", table)
                    ),
                    [Jsonb(row)],
                )
        with pytest.raises(psycopg.errors.ForeignKeyViolation), databases.opened():
            pass
        with nodes.opened(databases.dsn["a"], only_look=True) as opened:
            assert {finding.what for finding in checks.check(opened)} == {"map", "users"}
            assert all(finding.is_mended for finding in checks.check(opened, repair=True))
            assert list(checks.check(opened)) == []
        assert databases.rows("b").keys() == {user for user in USERS if partition_of(user, PARTITIONS) == place}

    def test_a_node_with_lower_transaction_ids_gets_its_short_check_back(self, databases: Databases) -> None:
        databases.begin("ab", "a" * PARTITIONS)
        check = "select memory._is_in_map('ana', 0, pg_current_snapshot())"
        with databases.api("a") as api:
            assert api.value(check)
            # What a dump brings along from a server that has counted further.
            known = api.value("select pg_get_functiondef('memory._is_in_map'::regproc)")
            api.connection.execute(re.sub(r"(?<=snapshot\(')\d+", "9999999", known).encode())
            assert api.value(check) is None
        with databases.opened() as opened:
            assert list(checks.check(opened, repair=True)) == []
        with databases.api("a") as api:
            assert api.value(check)

    def test_users_on_the_wrong_node_are_named(self, databases: Databases) -> None:
        databases.begin("ab", "aaaabbbb")
        with databases.api("a") as api:
            user = next(user for user in USERS if partition_of(user, PARTITIONS) > 3)
            api.connection.execute("set memory.rows_are_copied = 'yes'")
            api.connection.execute("insert into memory.threads (user_id, thread_id) values (%s, 't')", [user])
        with databases.opened() as opened:
            [finding] = checks.check(opened)
            assert (finding.node, finding.what) == ("a", "users")
            assert user in finding.detail
            assert all(finding.is_mended for finding in checks.check(opened, repair=True))
            assert list(checks.check(opened)) == []
        for name, number in (("a", 0), ("b", 1)):  # the proper node did not have the user
            with databases.api(name) as api:
                assert api.value("select count(*) from memory.threads") == number

    def test_a_user_whom_the_proper_node_has_forgotten_does_not_come_back(self, databases: Databases) -> None:
        databases.begin("ab", "b" * PARTITIONS)
        user = USERS[0]
        with Memory(databases.dsn["a"]) as memory, databases.api("a") as api:
            memory.add_message(user, "t", "user", "Hello")
            memory.forget_user(user)
            api.connection.execute("set memory.rows_are_copied = 'yes'")
            api.connection.execute("insert into memory.threads (user_id, thread_id) values (%s, 't')", [user])
        with databases.opened() as opened:
            assert all(finding.is_mended for finding in checks.check(opened, repair=True))
            assert list(checks.check(opened)) == []
        with databases.api("b") as api:
            assert api.value("select count(*) from memory.threads") == 0


def test_the_commands(databases: Databases, run: Run, tmp_path: Path) -> None:
    file = tmp_path / "nodes.toml"
    file.write_text(
        "[cluster]\npartitions = 8\n" + "".join(f'[nodes.{name}]\ndsn = "{databases.place(name)}"\n' for name in "ab")
    )
    outcome = run("cluster", "init", "--file", file)
    assert (outcome.returncode, outcome.stdout.splitlines()[-1]) == (0, "The cluster has 2 nodes and 8 partitions.")
    fill(databases)
    file.write_text(file.read_text() + f'[nodes.c]\ndsn = "{databases.place("c")}"\n')
    assert run("cluster", "add", "--file", file).stdout == "Added c.\n"
    moved = run("cluster", "move", "--partition", "0", "--to", "c")
    assert moved.returncode == 0, moved.stderr
    assert run("cluster", "doctor").stdout == "All 3 nodes agree.\n"
    status = run("cluster", "status")
    assert [line.split()[0] for line in status.stdout.splitlines()] == ["node", "a", "b", "c"]
    wrong = run("cluster", "move", "--partition", "0", "--to", "z")
    assert (wrong.returncode, wrong.stderr.splitlines()[0]) == (1, 'Error: there is no node "z"')
