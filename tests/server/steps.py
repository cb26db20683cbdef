"""What the tests of the in-database runner do again and again: queue jobs, run them, and wait."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg

from tests.support.fake_model_server import FakeModelServer
from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api

Connect = Callable[..., psycopg.Connection]

CALL = "call memory.run_jobs()"
JOBS = "select status, attempts, error from memory.jobs order by job_id"
RUNNING = "select count(*) from memory.jobs where status = 'running'"


def use(api: Api, fake: FakeModelServer, **settings: Any) -> None:
    """Let the fake server be the model of all jobs."""
    settings = {"base_url": fake.url, "max_concurrency": 100, **settings}
    api.register_model(name="fake", kind="chat", provider="openai", model="gpt-fake", settings=settings)
    api.activate_model(name="fake")


def may_run(api: Api, jobs: int) -> None:
    """Let a user have so many running jobs."""
    api.set_policy(settings={"jobs": {"max_running_per_user": jobs}})


def queue(api: Api, threads: int, user_id: str = "ana") -> None:
    """One extraction job for each of so many threads."""
    for number in range(threads):
        message = {"role": "user", "content": f"I enjoy {number} kinds of tea."}
        api.add_message(user_id=user_id, thread_id=f"t{number}", **message)
        api.extract_memories(user_id=user_id, thread_id=f"t{number}")


def stored(api: Api) -> set[str]:
    return {row.content for row in api.query("select content from memory.memories")}


@contextmanager
def running_call(api: Api, connect: Connect, jobs: int) -> Iterator[Api]:
    """Call the procedure beside the body, which begins when so many jobs are claimed; hands out another connection."""
    other = Api(connect())
    thread = threading.Thread(target=api.connection.execute, args=(CALL,))
    thread.start()
    try:
        wait_until(lambda: other.value(RUNNING) >= jobs)
        yield other
    except BaseException:
        other.connection.execute("select pg_terminate_backend(%s)", [api.connection.info.backend_pid])
        raise
    finally:
        thread.join(PATIENCE)
    assert not thread.is_alive()


def replace_source(api: Api, old: str, new: str) -> None:
    """Change a line of the embedded package, as an upgrade would."""
    source = api.value("select pg_get_functiondef('memory._load_models'::regproc)")
    assert old in source
    api.connection.execute(source.replace(old, new))
