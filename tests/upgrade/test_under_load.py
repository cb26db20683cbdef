"""The file is installed while clients and workers call: calls wait and go on, and nothing is lost."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.install.upgrades import LATER
from tests.support.installer import install
from tests.support.releases import RELEASES, command, environment, install_script
from tests.support.runners import PATIENCE, wait_until
from tests.support.servers import ROOT
from tests.support.sqlapi import Api

pytestmark = pytest.mark.feature("F13")

CALLER = Path(__file__).with_name("caller.py")
CURRENT = {**os.environ, "PYTHONPATH": f"{ROOT / 'python_client'}:{ROOT / 'plpython'}"}


@contextmanager
def calling(dsn: str, *environments: dict[str, str]) -> Iterator[list[dict[str, Any]]]:
    """Have a caller and a worker of each package at work; at the end the list has what each caller reports."""
    reports: list[dict[str, Any]] = []
    with ExitStack() as stack:

        def started(program: list[str], env: dict[str, str], **pipes: Any) -> subprocess.Popen[str]:
            process = stack.enter_context(subprocess.Popen(program, env=env, text=True, **pipes))
            stack.callback(process.kill)
            return process

        callers = [
            started(
                [sys.executable, str(CALLER), dsn, f"t{number}"], env, stdin=subprocess.PIPE, stdout=subprocess.PIPE
            )
            for number, env in enumerate(environments)
        ]
        workers = [
            started(command("worker", "--poll-interval", "0.05", "--dsn", dsn), env, stderr=subprocess.DEVNULL)
            for env in environments
        ]
        for caller in callers:
            assert caller.stdout
            assert caller.stdout.readline() == "ready\n"
        yield reports
        with psycopg.connect(dsn, autocommit=True) as connection:
            counted = "select count(*) from memory.messages where thread_id = any (%s) group by thread_id"
            threads = [f"t{number}" for number in range(len(callers))]

            def all_have_stored() -> bool:
                counts = connection.execute(counted, [threads]).fetchall()
                return len(counts) == len(callers) and min(counts) > (10,)

            wait_until(all_have_stored)
        reports.extend(json.loads(caller.communicate()[0]) for caller in callers)
        for worker in workers:
            worker.terminate()
            assert worker.wait(PATIENCE) == 0


def nothing_is_lost(api: Api, reports: list[dict[str, Any]]) -> None:
    for number, report in enumerate(reports):
        assert report["stored"] > 10
        counted = "select count(*) from memory.messages where thread_id = %(thread)s"
        assert api.value(counted, thread=f"t{number}") == report["stored"]
    while api.finish_jobs():
        pass
    open_or_dead = "select kind, status, error from memory.jobs where status not in ('completed', 'pending')"
    assert api.query(open_or_dead) == []


def test_calls_of_the_newest_release_go_on_while_a_version_with_other_tables_is_installed(
    empty_dsn: str, later: str
) -> None:
    """The release is this version as long as none is kept. The other has one more column, table, function, index."""
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create extension vector")
        newest = RELEASES[-1] if RELEASES else None
        install(empty_dsn, install_script(newest) if newest else None)
        with calling(empty_dsn, environment(newest) if newest else CURRENT) as reports:
            install(empty_dsn, later)
        assert [report["errors"] for report in reports] == [[]]
        api = Api(connection)
        nothing_is_lost(api, reports)
        assert (api.version(), api.extra()) == (LATER, 7)
        assert api.value("select array_agg(distinct extra) from memory.messages") == [7]
        index = "select indisvalid from pg_index where indexrelid = 'memory.messages_extra_idx'::regclass"
        assert (api.value(index), api.query("select from memory.extra_rows")) == (True, [])
        assert [check.check_name for check in api.doctor() if not check.ok] == []


@pytest.mark.nightly
@pytest.mark.parametrize("version", RELEASES)
def test_no_call_of_a_release_fails_when_this_version_is_installed(empty_dsn: str, version: str) -> None:
    """The caller makes no call whose result has new columns: sessions prepare their statements (docs/upgrading.md)."""
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create extension vector")
        install(empty_dsn, install_script(version))
        with calling(empty_dsn, environment(version), CURRENT) as reports:
            install(empty_dsn)
        assert [report["errors"] for report in reports] == [[], []]
        nothing_is_lost(Api(connection), reports)
