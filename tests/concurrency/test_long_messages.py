"""Long messages and memories that several connections write, describe and sweep at once."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager

import psycopg
import pytest

from tests.artifacts.offload.steps import keys, rows, say
from tests.support.protocol import activate, claim, complete
from tests.support.runners import PATIENCE, wait_until
from tests.support.sqlapi import Api

Connect = Callable[..., psycopg.Connection]


@pytest.fixture
def api(connect: Connect) -> Api:
    """A database of its own, because its rows are committed."""
    return Api(connect())


def wait_until_it_waits(api: Api, backend: int) -> None:
    wait_until(lambda: api.value("select cardinality(pg_blocking_pids(%(pid)s))", pid=backend) > 0)


@contextmanager
def begun(connect: Connect) -> Iterator[tuple[Api, Callable[[Callable[[], object]], Future[object]]]]:
    """Another connection, and how to have it do something at the same time."""
    other = Api(connect())
    with ThreadPoolExecutor(1) as pool:
        yield other, pool.submit


@pytest.mark.feature("C4", "E14")
def test_a_description_does_not_undo_an_edit_that_it_has_waited_for(api: Api, connect: Connect) -> None:
    activate(api)
    say(api)
    job = claim(api, "describe_artifact")
    with begun(connect) as (other, submit):
        with api.connection.transaction():
            # As many tokens as before, and the placeholder stays, so that the edit locks neither thread nor artifact.
            api.connection.execute("update memory.messages set content = replace(content, 'status 0', 'status 1')")
            completing = submit(lambda: complete(other, job, description="npm install, good"))
            wait_until_it_waits(api, other.connection.info.backend_pid)
        completing.result(PATIENCE)
    [row] = rows(api)
    assert "npm install, good" in row.content
    assert row.content.endswith("Exit status 1.")


@pytest.mark.feature("C2", "E14")
def test_the_sweep_does_not_lose_an_artifact_whose_message_goes_at_the_same_time(api: Api, connect: Connect) -> None:
    """The deletion is committed after the sweep's statement has begun, and before it locks the artifact."""
    say(api)
    api.connection.execute("update memory.artifacts set check_at = now() - interval '1 hour'")
    with begun(connect) as (other, submit):
        # For this role the sweep's statement waits when it has its snapshot.
        api.connection.execute(
            """
            create function public.slow() returns boolean language plpgsql volatile as $$
            begin perform pg_advisory_xact_lock(1); return true; end $$;
            alter table memory.artifacts enable row level security;
            create policy slow on memory.artifacts using (public.slow());
            create role sweeper; grant all on all tables in schema memory to sweeper;
            grant usage on schema memory to sweeper; grant execute on all functions in schema memory to sweeper;
            """
        )
        other.connection.execute("set role sweeper")
        with api.connection.transaction():
            api.connection.execute("select pg_advisory_xact_lock(1)")
            api.connection.execute("delete from memory.messages")
            sweeping = submit(lambda: other.value("select memory._sweep_unnamed_artifacts(10)"))
            wait_until_it_waits(api, other.connection.info.backend_pid)
        sweeping.result(PATIENCE)
    api.sweep()
    assert keys(api) == []


@pytest.mark.feature("B1", "E14")
def test_a_memory_that_is_stored_twice_at_once_under_one_id_is_no_conflict(api: Api, connect: Connect) -> None:
    memory_id = uuid.uuid4()

    def add(at: Api) -> object:
        return at.add_memory(user_id="ana", content="Likes tea", memory_id=memory_id, on_conflict="error").memory_id

    with begun(connect) as (other, submit):
        with api.connection.transaction():
            add(api)
            adding = submit(lambda: add(other))
            wait_until_it_waits(api, other.connection.info.backend_pid)
        assert adding.result(PATIENCE) == memory_id
    [memory] = api.list_memories(user_id="ana")
    assert (memory.memory_id, memory.version) == (memory_id, 1)


@pytest.mark.feature("C3", "E14")
def test_a_sweep_that_parses_an_artifact_and_deletes_its_message_does_not_deadlock(api: Api, connect: Connect) -> None:
    say(api)
    with begun(connect) as (other, submit):
        with api.connection.transaction():  # as memory.sweep() does
            assert api.value("select memory._artifacts_parse(null, 4000000)") > 0
            deleting = submit(lambda: other.delete_artifact(user_id="ana", key="npm-install"))
            wait_until_it_waits(api, other.connection.info.backend_pid)
            api.connection.execute("delete from memory.messages")
        assert deleting.result(PATIENCE) is True
    assert keys(api) == []
