"""The Python package of each release, its client and its worker, works on the schema of this version."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psycopg
import pytest

from tests.support.fake_model_server import FakeModelServer
from tests.support.installer import install
from tests.support.releases import RELEASES, command, environment, install_script
from tests.support.sqlapi import Api

pytestmark = [pytest.mark.feature("F13"), pytest.mark.parametrize("version", RELEASES)]

CALLS = Path(__file__).with_name("old_calls.py")


@pytest.fixture
def upgraded(empty_dsn: str, version: str) -> str:
    with psycopg.connect(empty_dsn, autocommit=True) as connection:
        connection.execute("create extension vector")
    install(empty_dsn, install_script(version))
    install(empty_dsn)
    return empty_dsn


def test_every_call_of_the_client_and_every_job_of_the_worker_ends_well(upgraded: str, version: str) -> None:
    def run(program: list[str]) -> str:
        ended = subprocess.run(program, env=environment(version), capture_output=True, text=True, timeout=300)
        assert "Traceback" not in ended.stderr, ended.stderr
        return ended.stdout

    with psycopg.connect(upgraded, autocommit=True) as connection, FakeModelServer() as models:
        api = Api(connection)
        settings = {"base_url": models.url, "dimensions": 8, "api_key_env": "AGENT_MEMORY_KEY_TEST"}
        api.register_model(name="fake", kind="embedding", provider="openai", model="m", settings=settings)
        api.activate_model(name="fake")
        assert run([sys.executable, str(CALLS), upgraded]) == "done\n"
        api.store_artifact(user_id="bob", content="line two\n" * 9000, key="log")  # a job of a kind that came later
        assert api.value("select count(distinct kind) from memory.jobs where status = 'pending'") > 6
        run(command("worker", "--once", "--dsn", upgraded))
        left = api.query("select kind, status, attempts, error from memory.jobs where status <> 'completed'")
        assert [tuple(job) for job in left] == [
            ("parse_artifacts", "pending", 0, "unknown kind of job: parse_artifacts")
        ]
        assert len(api.get_thread_summary(user_id="ana", thread_id="t1")) == 1
        assert api.value("select count(*) from memory.embeddings where user_id = 'ana'") > 10
        api.query("update memory.jobs set run_after = now() returning 1")
        while api.finish_jobs():
            pass
        assert api.value("select count(*) from memory.jobs where status <> 'completed'") == 0
