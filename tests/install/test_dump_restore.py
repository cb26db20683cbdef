"""Dump and restore lose nothing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import psycopg
import pytest

from tests.install.steps import ANA, VERSION, use
from tests.support.installer import install, open_as
from tests.support.servers import Run
from tests.support.sqlapi import Api


@pytest.mark.feature("F13")
@pytest.mark.parametrize("style", ["plain", "custom"])
def test_dump_drop_and_restore_lose_nothing(
    dsn: str, db: psycopg.Connection, empty_dsn: str, run: Run, tmp_path: Path, style: str
) -> None:
    use(Api(db))
    before = Api(db).state()
    assert all(before.values())
    file = tmp_path / "dump"
    run("pg_dump", f"--format={style}", "--file", file, "--dbname", dsn)
    db.execute("drop schema memory cascade")
    if style == "plain":
        run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--single-transaction", "-f", file, empty_dsn)
    else:
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
def test_the_file_changes_nothing_in_a_restored_database(
    dsn: str, db: psycopg.Connection, empty_dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path
) -> None:
    use(Api(db))
    file = tmp_path / "dump.sql"
    file.write_text(dump(dsn))
    run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "-f", file, empty_dsn)
    install(empty_dsn)
    assert dump(empty_dsn) == file.read_text()


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
