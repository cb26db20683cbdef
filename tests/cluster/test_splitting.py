"""A node is split: its standby is promoted and serves half of its partitions."""

from __future__ import annotations

import contextlib
import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory import Memory
from agent_memory.cluster import checks, nodes, splitting
from agent_memory.errors import InvalidValueError
from psycopg.conninfo import make_conninfo

from tests.support.servers import Server, install_agent_memory, running_server

pytestmark = pytest.mark.feature("F14")

USERS = [f"user {number}" for number in range(10)]
PARTITIONS = 8


@pytest.fixture
def primary(server: Server) -> Iterator[Server]:
    if not (server.bin_dir / "pg_basebackup").exists():
        pytest.skip("this server comes without pg_basebackup")
    with running_server(server.kind, {"wal_level": "replica", "max_wal_senders": "4", "hot_standby": "on"}) as own:
        install_agent_memory(own, "postgres")
        yield own


@pytest.fixture
def standby(primary: Server) -> Iterator[str]:
    """The connection string of a streaming standby of the primary."""
    folder = Path(tempfile.mkdtemp(prefix="agent-memory-", dir="/tmp"))
    folder.chmod(0o777)
    owner = pwd.getpwuid(Path(primary.host).stat().st_uid)

    def run(program: str, *arguments: object) -> None:
        drop: dict[str, Any] = {}
        if os.geteuid() == 0:
            drop = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []}
        command = [str(primary.bin_dir / program), *map(str, arguments)]
        with (folder / "log").open("a") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=folder, **drop)

    data = folder / "data"
    run("pg_basebackup", "-h", primary.host, "-U", "postgres", "-D", data, "--checkpoint=fast", "--write-recovery-conf")
    with (data / "postgresql.auto.conf").open("a") as conf:
        conf.write(f"unix_socket_directories = '{folder}'\n")
    run("pg_ctl", "--pgdata", data, "--log", folder / "server.log", "--wait", "start")
    try:
        yield make_conninfo(host=str(folder), port=5432, user="postgres", dbname="postgres")
    finally:
        with contextlib.suppress(subprocess.CalledProcessError):
            run("pg_ctl", "--pgdata", data, "--mode=immediate", "stop")
        shutil.rmtree(folder, ignore_errors=True)


def place(dsn: str) -> str:
    known = psycopg.conninfo.conninfo_to_dict(dsn)
    return make_conninfo(**{key: str(known[key]) for key in ("host", "port", "dbname")})


def messages(dsn: str) -> dict[str, list[str]]:
    with psycopg.connect(dsn) as connection:
        return dict(
            connection.execute(
                "select user_id, array_agg(content order by seq) from memory.messages group by 1"
            ).fetchall()
        )


class StoppedError(Exception):
    """The command is killed."""


@pytest.mark.parametrize("step", [1, 2])
def test_a_standby_gets_half_of_the_partitions(
    primary: Server, standby: str, step: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = primary.conninfo()
    nodes.begin({"a": place(own)}, ["a"] * PARTITIONS, own)
    with Memory(own) as memory:
        for user in USERS:
            memory.add_messages(user, "t", [{"role": "user", "content": f"{user} {n}"} for n in range(3)])
    before = messages(own)
    with nodes.opened(own) as opened:
        assert nodes.add(opened, {"b": place(standby)}, own) == ["b"]
    with nodes.opened(own, only_look=True) as opened, pytest.raises(InvalidValueError, match="has the partitions"):
        splitting.split(opened, "a", "b", [99])
    count = iter(range(100))

    def stopping(write_into: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> None:
            if next(count) == step:
                raise StoppedError
            write_into(*arguments)

        return call

    with monkeypatch.context() as patch, contextlib.suppress(StoppedError):
        patch.setattr(nodes.Nodes, "write_into", stopping(nodes.Nodes.write_into))
        with nodes.opened(own, only_look=True) as opened:
            splitting.split(opened, "a", "b")
    with nodes.opened(own, only_look=True) as opened:
        assert splitting.split(opened, "a", "b") == [1, 3, 5, 7]
    with nodes.opened(own) as opened:
        assert list(checks.check(opened)) == []
        assert "".join(opened.newest.partitions) == "abababab"
    halves = messages(own), messages(standby)
    assert all(halves)
    assert not halves[0].keys() & halves[1].keys()
    assert halves[0] | halves[1] == before
    with Memory(own) as memory:
        jobs = set()
        for user in USERS:
            assert memory.add_message(user, "t", "user", "more").seq == 3
            jobs.add(memory.consolidate(user))
        assert len(jobs) == len(USERS)
