"""A map of 64 partitions over 8 databases."""

from __future__ import annotations

import contextlib
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from agent_memory import Memory, partition_of
from agent_memory.cluster import checks, moving, nodes, nodes_file
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg.types.json import Jsonb

from tests.conftest import DATABASE_NAMES, Database

pytestmark = pytest.mark.feature("F14")

NODES = [f"node {number}" for number in range(8)]
USERS = [f"我喜欢茶 {number}" for number in range(64)]


def place(dsn: str) -> str:
    known = conninfo_to_dict(dsn)
    return make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname")})


@pytest.fixture
def dsn(_database: Database, _template: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    """The databases by node, with the map that a file without numbers of partitions makes."""
    with contextlib.ExitStack() as stack:
        dsn = {name: stack.enter_context(_database(next(DATABASE_NAMES), _template)) for name in NODES}
        path = tmp_path / "nodes.toml"
        path.write_text("".join(f'[nodes."{name}"]\ndsn = "{place(each)}"\n' for name, each in dsn.items()))
        file = nodes_file.read(path)
        numbered = {name: {"dsn": each, "number": number} for number, (name, each) in enumerate(file.dsn.items())}
        for name, each in dsn.items():
            with psycopg.connect(each) as connection:
                connection.execute(
                    "select memory._set_cluster_map(%s, 1, %s, %s, '{}', '{}')",
                    [name, file.assignment(), Jsonb(numbered)],
                )
        yield dsn


def test_it_is_served(dsn: dict[str, str]) -> None:
    with Memory(dsn[NODES[3]], pool_size=1) as memory:
        for user in USERS:
            assert memory.add_message(user, "t", "user", "Hello").seq == 0
        assert memory.admin.list_users(row_limit=1)[0].total_count == len(USERS)
        memory.admin.set_policy({"context": {"max_memories": 3}})
        assert list(memory.admin.status()["nodes"]) == NODES
        stored = {}
        for name, each in dsn.items():
            with psycopg.connect(each) as connection:
                stored[name] = {user for [user] in connection.execute("select user_id from memory.messages")}
        homes = Counter(NODES[partition_of(user) // 8] for user in USERS)
        assert {name: len(users) for name, users in stored.items()} == {name: homes[name] for name in NODES}
        with nodes.opened(dsn[NODES[7]]) as opened:
            assert moving.move_partition(opened, partition_of(USERS[0]), NODES[5]) > 0
            assert list(checks.check(opened)) == []
        assert memory.add_message(USERS[0], "t", "user", "again").seq == 1
