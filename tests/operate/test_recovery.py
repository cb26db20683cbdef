"""Recovery to a moment before an accident, and reading on a standby, as docs/backup.md describes them."""

from __future__ import annotations

import contextlib
import os
import pwd
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest

from tests.support.runners import wait_until
from tests.support.servers import ROOT, Server, install_agent_memory, running_server
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F9", "F13")

PAGE = (ROOT / "docs" / "backup.md").read_text()
SETTINGS = dict(re.findall(r"^(\w+) = '?([^'\n]*)'?$", PAGE, re.MULTILINE))
"""The settings of the page, of which the tests use those of recovery with a folder of their own."""


@dataclass
class Cluster:
    """A server that archives what it writes, and copies of it."""

    server: Server
    archive: Path

    def run(self, program: str, *arguments: object) -> None:
        """Run a program of PostgreSQL as the owner of the server's files, because PostgreSQL refuses root."""
        owner = pwd.getpwuid(Path(self.server.host).stat().st_uid)
        drop = {"user": owner.pw_uid, "group": owner.pw_gid, "extra_groups": []} if os.geteuid() == 0 else {}
        command = [str(self.server.bin_dir / program), *map(str, arguments)]
        folder = self.archive.parent
        with (folder / f"{program}.log").open("a") as log:
            subprocess.run(command, check=True, stdout=log, stderr=log, cwd=folder, **drop)  # type: ignore[call-overload]

    @contextlib.contextmanager
    def copy(self, settings: dict[str, str], *options: str) -> Iterator[str]:
        """Copy the server with pg_basebackup; the connection string of the copy, which runs with more settings."""
        folder = self.archive.parent / f"copy-{len(list(self.archive.parent.glob('copy-*')))}"
        self.run("pg_basebackup", "-h", self.server.host, "-U", "postgres", "-D", folder, "--checkpoint=fast", *options)
        yield_to = {"unix_socket_directories": str(self.archive.parent), "archive_mode": "off", **settings}
        with (folder / "postgresql.auto.conf").open("a") as conf:
            conf.writelines(f"{name} = '{value}'\n" for name, value in yield_to.items())
        yield str(folder)

    @contextlib.contextmanager
    def running(self, folder: str) -> Iterator[psycopg.Connection]:
        self.run("pg_ctl", "--pgdata", folder, "--log", f"{folder}.log", "--wait", "start")
        try:
            with psycopg.connect(
                host=str(self.archive.parent), port=5432, user="postgres", dbname="postgres", autocommit=True
            ) as connection:
                yield connection
        finally:
            self.run("pg_ctl", "--pgdata", folder, "--mode=immediate", "stop")


@pytest.fixture(scope="module")
def cluster(server: Server) -> Iterator[Cluster]:
    if not (server.bin_dir / "pg_basebackup").exists():
        pytest.skip("this server comes without pg_basebackup")
    folder = Path(tempfile.mkdtemp(prefix="agent-memory-", dir="/tmp"))
    folder.chmod(0o777)
    archive = folder / "archive"
    archive.mkdir()
    archive.chmod(0o777)
    command = SETTINGS["archive_command"].replace("/var/lib/archive", str(archive))
    try:
        with running_server(server.kind, {"archive_mode": SETTINGS["archive_mode"], "archive_command": command}) as own:
            install_agent_memory(own, "postgres")
            yield Cluster(own, archive)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture
def primary(cluster: Cluster) -> Iterator[Api]:
    with psycopg.connect(cluster.server.conninfo(), autocommit=True) as connection:
        yield Api(connection)


def wait_for(connection: psycopg.Connection, question: str, *parameters: object) -> None:
    wait_until(lambda: connection.execute(question.encode(), parameters).fetchone() == (True,))


def test_after_recovery_to_a_moment_a_deleted_thread_is_back_and_what_was_forgotten_goes_again(
    cluster: Cluster, primary: Api
) -> None:
    primary.talk("ana", "t1", 5)
    settings = {
        "restore_command": SETTINGS["restore_command"].replace("/var/lib/archive", str(cluster.archive)),
        "recovery_target_action": SETTINGS["recovery_target_action"],
    }
    with cluster.copy(settings, "--wal-method=none") as folder:
        primary.talk("ana", "t1", 5)
        primary.add_memory(user_id="ana", content="Likes tea")
        primary.summarize_thread(user_id="ana", thread_id="t1")
        primary.talk("eve", "t1", 2)
        said = [f"The secret of cyd has the number {number}" for number in range(3)]
        memories = [primary.add_memory(user_id="cyd", content=text).memory_id for text in said]
        before = primary.state()
        moment = primary.value("select clock_timestamp()::text")
        time.sleep(0.05)
        assert primary.delete_thread(user_id="ana", thread_id="t1") == 20
        primary.forget_user(user_id="eve")
        primary.forget_memory(user_id="cyd", memory_id=memories[1])
        [[switched]] = primary.query("select pg_walfile_name(pg_switch_wal())")
        wait_for(primary.connection, "select last_archived_wal >= %s from pg_stat_archiver", switched)
        with (Path(folder) / "postgresql.auto.conf").open("a") as conf:
            conf.write(f"recovery_target_time = '{moment}'\n")
        signal = Path(folder) / "recovery.signal"
        signal.touch()
        shutil.chown(signal, *(2 * [Path(folder).stat().st_uid]))
        with cluster.running(folder) as connection:
            wait_for(connection, "select not pg_is_in_recovery()")
            restored = Api(connection)
            assert restored.state() == before
            assert restored.add_message(user_id="ana", thread_id="t1", role="user", content="Back").seq == 20
            assert [check.check_name for check in restored.doctor() if not check.ok] == []

            [section] = re.findall(r"^Rows that `forget_user` and .*?^With more", PAGE, re.MULTILINE | re.DOTALL)
            file = cluster.archive.parent / "forgotten.sql"
            [at_the_replaced, at_the_restored] = re.findall(r"```sql\n(.*?)```", section, re.DOTALL)
            for host, script in ((cluster.server.host, at_the_replaced), (cluster.archive.parent, at_the_restored)):
                file.write_text(re.sub(r"'2\d{3}-[^']*'", f"'{moment}'", script))
                database = f"host={host} user=postgres dbname=postgres"
                cluster.run("psql", "-X", "-v", "ON_ERROR_STOP=1", "-f", file, database)
            assert {row.content for row in restored.list_memories(user_id="cyd")} == {said[0], said[2]}
            assert "eve" not in {row.user_id for row in restored.list_users()}


def test_a_standby_answers_every_reading_function(cluster: Cluster, primary: Api) -> None:
    ana = {"user_id": "bob", "thread_id": "t1"}
    primary.talk(**ana, rounds=10)
    primary.add_memory(user_id="bob", content="Likes tea")
    primary.store_artifact(user_id="bob", content="line\n" * 100, key="log")
    primary.add_document(user_id="bob", content="Tea is green.")
    primary.summarize_thread(**ana)
    while primary.finish_jobs(summary="They talked: question 1, answer 1.", memory="They asked question 1."):
        pass
    job = primary.summarize_user(user_id="bob")
    with cluster.copy({}, "--write-recovery-conf") as folder, cluster.running(folder) as connection:
        at = primary.value("select pg_current_wal_lsn()::text")
        wait_for(connection, "select pg_last_wal_replay_lsn() >= %s::pg_lsn", at)
        standby = Api(connection)
        reads = {
            "get_messages": ana,
            "get_thread_summary": ana,
            "list_memories": {"user_id": "bob"},
            "search": {"user_id": "bob", "query": "tea", "mode": "keyword"},
            "retrieve_artifact": {"user_id": "bob", "key": "log"},
            "load_user": {"user_id": "bob"},
            "get_job": {"user_id": "bob", "job_id": job},
        }
        for name, arguments in reads.items():
            assert getattr(standby, name)(**arguments) == getattr(primary, name)(**arguments), name
        texts = [[part.content for part in api.get_context(**ana, query="tea")] for api in (standby, primary)]
        assert texts[0] == texts[1]
        with pytest.raises(psycopg.errors.ReadOnlySqlTransaction):
            standby.add_message(**ana, role="user", content="Hello")
