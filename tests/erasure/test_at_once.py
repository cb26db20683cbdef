"""Erasures of one user by several sessions, while others write, work, sweep and import: nobody waits for ever."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from itertools import count

import psycopg
import pytest

from tests.erasure.conftest import rows
from tests.support.runners import wait_until
from tests.support.sqlapi import Api, refused, result_of

pytestmark = pytest.mark.feature("F5")

ANA = {"user_id": "ana"}
SECONDS = 4


def forget(api: Api, _: int) -> None:
    api.forget_user(**ANA)
    time.sleep(0.03)  # else no other loop comes to its end: what it added is gone


def write_in_subtransactions(api: Api, number: int) -> None:
    """Rows of several subtransactions, one of which is undone, and statements that psycopg prepares."""
    with api.connection.transaction():
        for part in range(3):
            with api.connection.transaction(force_rollback=part == 1):
                api.add_message(**ANA, thread_id=f"t{number % 3}", role="user", content=f"Hello {number} {part}")
    api.extract_memories(**ANA, thread_id=f"t{number % 3}")


def forget_what_is_merged(api: Api, number: int) -> None:
    """A memory is forgotten while jobs and calls supersede it."""
    older, newer = (api.add_memory(**ANA, content=f"Likes {kind} tea {number}").memory_id for kind in ("green", "much"))
    api.reconcile_memories(**ANA)
    api.supersede_memory(**ANA, old_memory_id=older, new_memory_id=newer, reason="duplicate")
    api.forget_memory(**ANA, memory_id=older)


def work(api: Api, _: int) -> None:
    for job in api.claim_jobs(worker="w", max_jobs=3):
        lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
        api.complete_job(**lease, result=result_of(job, "They talked of tea", f"Likes tea {job.job_id}"))


def sweep(api: Api, _: int) -> None:
    api.sweep()


LEGAL = {
    "AM001",  # the job was taken away
    "P0002",  # the memory or the thread is gone
    "55P03",  # somebody holds a row that a job would change
}


HALF_GONE = """
    select t.thread_id from memory.threads as t
    where t.message_count <> (select count(*) from memory.messages as m
                              where m.user_id = t.user_id and m.thread_id = t.thread_id and m.is_active)
       or t.next_seq <> t.message_count
    union all
    select m.thread_id from memory.messages as m
    where not exists (select from memory.threads as t where t.user_id = m.user_id and t.thread_id = m.thread_id)
    union all
    select s.agent_id from memory.memory_scopes as s
    where s.memory_count <> (select count(*) from memory.memories as m
                             where m.user_id = s.user_id and m.agent_id = s.agent_id and memory._is_current(m))
"""


def test_erasures_jobs_sweeps_and_writers_at_once(dsn: str) -> None:
    stop = threading.Event()
    failed: list[str] = []
    done: dict[str, int] = {}

    def repeat(what: Callable[[Api, int], None], first: int) -> None:
        with psycopg.connect(dsn, autocommit=True) as connection:
            api = Api(connection)
            for number in count(first, 10):
                if stop.is_set():
                    return
                try:
                    what(api, number)
                    done[what.__name__] = done.get(what.__name__, 0) + 1
                except psycopg.Error as error:
                    if error.sqlstate not in LEGAL:
                        failed.append(f"{what.__name__}: {error.sqlstate} {error}")

    loops = [forget, forget, write_in_subtransactions, forget_what_is_merged, forget_what_is_merged, work, sweep]
    threads = [threading.Thread(target=repeat, args=[what, number]) for number, what in enumerate(loops)]
    for thread in threads:
        thread.start()
    with psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        ends = time.monotonic() + SECONDS
        try:
            while time.monotonic() < ends:
                assert api.query(HALF_GONE) == []  # one statement sees one moment
            wait_until(lambda: failed or set(done) == {what.__name__ for what in loops})
        finally:
            stop.set()
            for thread in threads:
                thread.join()
        assert "\n".join(failed) == ""
        assert api.query(HALF_GONE) == []
        api.forget_user(**ANA)
        assert rows(api, "ana") == {}


def test_an_import_in_parts_keeps_erasures_waiting_between_its_parts(dsn: str) -> None:
    with psycopg.connect(dsn, autocommit=True) as connection, psycopg.connect(dsn) as importing:
        api = Api(connection)
        api.talk("ana", "t", 3)
        part = api.export_user(**ANA)
        connection.execute("delete from memory.threads where user_id = 'ana'")
        connection.execute("delete from memory.jobs where user_id = 'ana'")
        Api(importing).import_user(**ANA, export=part, is_last=False)
        connection.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            api.forget_user(**ANA)
        with pytest.raises(psycopg.errors.LockNotAvailable):
            api.import_user(**ANA, export=part)
        head = {name: part[name] for name in ("format", "format_version", "user_id")}
        assert Api(importing).import_user(**ANA, export=head)["messages"] == 6
        importing.commit()
        assert api.forget_user(**ANA)["tables"]["messages"] == 6


def test_what_follows_an_unfinished_import_is_checked_as_always(dsn: str) -> None:
    """Triggers let the rows of an import pass by; between two parts they must not."""
    with psycopg.connect(dsn) as connection:
        api = Api(connection)
        head = {"format": "agent_memory user", "format_version": 1, "user_id": "ana"}
        api.import_user(**ANA, export=head, is_last=False)
        connection.execute("set local memory.rows_are_copied = 'yes'")
        api.add_message(user_id="bo", thread_id="t", role="user", content="Hello")
        assert [thread.message_count for thread in api.list_threads(user_id="bo")] == [1]
        with refused("is_last"):
            connection.commit()


def test_a_model_that_is_activated_while_a_user_is_being_forgotten_leaves_no_row_of_the_user(dsn: str) -> None:
    """The job of the user is held then, and only others are queued anew."""
    with psycopg.connect(dsn, autocommit=True) as first, psycopg.connect(dsn, autocommit=True) as second:
        eraser, admin = Api(first), Api(second)
        eraser.add_memory(**ANA, content="Likes tea")
        for model in ("ada", "eve"):
            admin.register_model(name=model, kind="embedding", provider="openai", model=model)
            admin.activate_model(name=model)
        export = eraser.export_user(**ANA)
        with first.transaction():
            eraser.forget_user(**ANA)
            admin.activate_model(name="ada")
            admin.register_model(name="new", kind="embedding", provider="openai", model="new")
            for _ in range(2):
                admin.sweep()
        for _ in range(2):
            admin.sweep()
        assert rows(admin, "ana") == {}
        assert admin.import_user(**ANA, export=export)["left_out"] > 0  # nothing refuses the import
