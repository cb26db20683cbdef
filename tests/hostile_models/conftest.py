"""Fixtures of the tests of models that misbehave: both runners, the model server, and users with threads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from tests.hostile_models.steps import SECRET, HostileServer, use
from tests.support.runners import DatabaseRunner, Runner, WorkerRunner
from tests.support.servers import Server
from tests.support.sqlapi import Api

# Only the jobs that a test asks for.
QUIET = {
    "summary": {"enabled": False},
    "compression": {"recent_messages_to_keep": 2},
    "cadence": {"fact_extraction_every_n": 0, "reconcile_every_n": 0},
    "jobs": {"max_running_per_user": 100},
}


# A job that failed waits longer than any test takes: on a busy machine its ten seconds would be over during the test.
WAIT_LONG = """
create function public.wait_long() returns trigger language plpgsql as $$
begin
  new.run_after := greatest(new.run_after, now() + interval '30 minutes');
  return new;
end $$;
create trigger wait_long before update on memory.jobs for each row
when (old.status = 'running' and new.status = 'pending' and new.attempts = old.attempts)
execute function public.wait_long()
"""


@pytest.fixture(params=["database", "worker"])
def runner(request: pytest.FixtureRequest, server: Server, dsn: str, tmp_path: Path) -> Iterator[Runner]:
    """run_jobs() on the server that has PL/Python, and a worker on the other one."""
    if request.param != ("database" if server.has_plpython else "worker"):
        pytest.skip("the run on the other server has this runner")
    started = DatabaseRunner(dsn) if server.has_plpython else WorkerRunner(dsn, tmp_path / "worker.log")
    with started:
        yield started


@pytest.fixture
def fake() -> Iterator[HostileServer]:
    server = HostileServer()
    with server:
        yield server


@pytest.fixture
def api(db: psycopg.Connection, fake: HostileServer) -> Api:
    """Ana's thread t, of which the tests' jobs are, and bystanders: her other thread, and Bob."""
    api = Api(db)
    api.connection.execute(WAIT_LONG)
    api.set_policy(settings=QUIET)
    use(api, fake)
    for user_id, thread_id in (("ana", "t"), ("ana", "other"), ("bob", "t")):
        api.talk(user_id, thread_id, rounds=3)
    api.add_message(user_id="bob", thread_id="t", role="user", content=SECRET)
    api.add_message(user_id="ana", thread_id="other", role="user", content="A word of another thread.")
    api.add_memory(user_id="bob", content=f"Remember {SECRET}.", thread_id="t")
    return api
