"""Dump and restore lose nothing."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest
from psycopg.conninfo import conninfo_to_dict, make_conninfo

from tests.install.steps import ANA, VERSION, use
from tests.support.installer import execute, install, open_as
from tests.support.servers import ROOT, Run, Server
from tests.support.sqlapi import Api
from tests.tenants.steps import login_role


@pytest.mark.feature("F13")
def test_dump_drop_and_restore_lose_nothing(
    dsn: str, db: psycopg.Connection, empty_dsn: str, run: Run, tmp_path: Path
) -> None:
    use(Api(db))
    before = Api(db).state()
    assert all(before.values())
    file = tmp_path / "dump"
    run("pg_dump", "--format=custom", "--file", file, "--dbname", dsn)
    db.execute("drop schema memory cascade")
    run("pg_restore", "--exit-on-error", "--dbname", empty_dsn, file)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.state() == before
        assert api.version() == VERSION
        next_seq = api.value("select next_seq from memory.threads where thread_id = 't1'")
        newest_job = api.value("select max(job_id) from memory.jobs")
        assert api.add_message(**ANA, role="user", content="Back again").seq == next_seq
        assert api.add_message(**ANA, role="user", content="Grüße ☕", idempotency_key="k1").seq < next_seq
        assert api.add_memory(user_id="ana", agent_id="support", content="Fact 7").inserted
        assert api.query("select memory_count from memory.memory_scopes where agent_id = 'support'") == [(4,)]
        assert api.store_artifact(user_id="ana", content="Grüße ☕\n" * 5000, key="log").token_count == 15_000
        assert api.summarize_thread(user_id="cy", thread_id="t3") > newest_job
        waiting = api.query("select job_id from memory.jobs where status = 'pending'")
        assert {job.job_id for job in api.claim_jobs(worker="w", max_jobs=100)} == {row.job_id for row in waiting}


@pytest.mark.feature("F13")
def test_doctor_notices_a_restore_without_privileges_and_the_file_repairs_it(
    empty_dsn: str, dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "dump.sql"
    file.write_text(dump(dsn, "--no-acl"))
    run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "-f", file, empty_dsn)

    def privileges_are_ok() -> bool:
        with open_as(empty_dsn) as connection:
            return bool({check.check_name: check.ok for check in Api(connection).doctor()}["privileges"])

    assert not privileges_are_ok()
    install(empty_dsn)
    assert privileges_are_ok()


@pytest.mark.feature("F13")
def test_an_owner_without_superuser_dumps_and_restores(
    server: Server, empty_dsn: str, dsn: str, run: Run, tmp_path: Path
) -> None:
    source, target = empty_dsn, dsn
    execute(target, "drop schema memory cascade; drop extension if exists pgcrypto, vector, plpython3u")
    with open_as(source) as connection:
        login_role(connection, "owner_of_dumps")
        connection.execute("alter role owner_of_dumps createrole")
    for dsn in (source, target):
        execute(dsn, "create extension vector")
        execute(dsn, f"alter database {conninfo_to_dict(dsn)['dbname']} owner to owner_of_dumps")
    as_owner = [make_conninfo(dsn, user="owner_of_dumps") for dsn in (source, target)]
    install(as_owner[0])
    with open_as(as_owner[0]) as connection:
        use(Api(connection))
        before = Api(connection).state()
        problems = [check for check in Api(connection).doctor() if not check.ok]
    page = (ROOT / "docs" / "backup.md").read_text()
    commands = re.findall(r"`(pg_restore --list [^`]*|pg_restore\s+--exit-on-error\s+--no-owner [^`]*)`", page)
    assert len(commands) == 2
    run("pg_dump", "--format=custom", "--file", tmp_path / "app.dump", "--dbname", as_owner[0])
    subprocess.run(
        ["bash", "-euo", "pipefail", "-c", ";".join(commands).replace("\n", " ").replace("-d app ", '-d "$TARGET" ')],
        cwd=tmp_path, check=True, env={"PATH": f"{server.bin_dir}:{os.environ['PATH']}", "TARGET": as_owner[1]},
    )  # fmt: skip
    with open_as(as_owner[1]) as connection:
        assert Api(connection).state() == before
        assert [check for check in Api(connection).doctor() if not check.ok] == problems
