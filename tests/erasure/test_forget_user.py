"""forget_user removes everything, says what, and lets nothing else happen."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.erasure.conftest import ANA, NEEDLE, fill, forms, rows
from tests.support.runners import PATIENCE
from tests.support.servers import Server
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F5")


def test_a_dump_has_no_byte_of_the_user(filled: Api, dump: Callable[..., str], dsn: str, server: Server) -> None:
    if not (server.bin_dir / "pg_dump").exists():
        pytest.skip("this server comes without pg_dump")
    before = dump(dsn)
    assert ANA in before
    assert NEEDLE.encode().hex() not in "".join(forms("other"))
    filled.forget_user(user_id=ANA, reason=f"asked by {ANA}")
    after = dump(dsn)
    assert [line[:500] for line in after.splitlines() if any(form in line for form in forms(NEEDLE))] == []
    assert before.count("other") == after.count("other")


def test_the_receipt_counts_the_rows_by_table_and_is_kept(filled: Api) -> None:
    before = rows(filled, ANA)
    receipt = filled.forget_user(user_id=ANA, reason=f"ticket 7 of {ANA}")
    assert receipt["tables"] == before | {"agent_budgets": 1}
    assert set(receipt) == {"receipt_id", "forgotten_at", "tables"}
    [kept] = filled.query("select receipt_id, subject, reason, r::text as said from memory.receipts as r")
    assert (str(kept.receipt_id), kept.subject, kept.reason) == (
        receipt["receipt_id"],
        "user",
        "ticket 7 of [forgotten]",
    )
    assert NEEDLE not in kept.said
    assert rows(filled, ANA) == {}


def test_others_are_left_as_they_are(filled: Api) -> None:
    digest = {
        table: filled.value(f"select md5(string_agg(t::text, ' ' order by t::text)) from memory.{table} as t"
                            " where user_id = 'bo'")
        for table in rows(filled, "bo")
    }  # fmt: skip
    filled.forget_user(user_id=ANA)
    for table, before in digest.items():
        query = f"select md5(string_agg(t::text, ' ' order by t::text)) from memory.{table} as t where user_id = 'bo'"
        assert filled.value(query) == before, table


def test_the_ledger_keeps_the_costs_without_the_user(filled: Api) -> None:
    costs = "select count(*) as calls, count(error) as errors, sum(price), sum(tokens_in) as t from memory.model_calls"
    before = filled.query(costs)
    filled.forget_user(user_id=ANA)
    assert filled.query(costs) == before
    [call] = filled.query("select * from memory.model_calls where user_id = '' and price is not null")
    assert (call.agent_id, call.error, call.job_id) == (None, "forgotten", None)


def test_an_agent_that_others_have_stays_in_the_ledger(filled: Api) -> None:
    filled.connection.execute("update memory.model_calls set agent_id = 'shared' where price is not null")
    filled.forget_user(user_id=ANA)
    assert filled.value("select agent_id from memory.model_calls where user_id = '' and price is not null") == "shared"


def test_calls_that_are_reported_afterwards_are_entered_without_the_user(filled: Api) -> None:
    job = next(job for job in filled.claim_jobs(worker="w", max_jobs=100) if job.user_id == ANA)
    filled.forget_user(user_id=ANA)
    lease = {"user_id": ANA, "job_id": job.job_id, "lease_token": job.lease_token}
    with refused("lease_token", "AM001"):
        filled.complete_job(**lease, result={"memories": []})
    with refused("lease_token", "AM001"):
        filled.fail_job(**lease, error=NEEDLE)
    calls = [{"tokens_in": 3, "tokens_out": 4, "error": NEEDLE}]
    with refused("job_id", "P0002"):
        filled.record_calls(user_id="bo", job_id=job.job_id, calls=calls)
    filled.record_calls(user_id=ANA, job_id=job.job_id, calls=calls)
    [entered] = filled.query("select * from memory.model_calls where tokens_out = 4")
    assert (entered.user_id, entered.job_id, entered.error, entered.tokens_in) == ("", None, "forgotten", 3)
    assert rows(filled, ANA) == {}


def test_whoever_comes_back_is_a_new_user(filled: Api) -> None:
    filled.forget_user(user_id=ANA)
    fill(filled, ANA, NEEDLE)
    said = filled.list_memories(user_id=ANA)
    assert [m for m in said if m.source == "extraction"], "what the new user says is extracted"
    filled.forget_user(user_id=ANA)
    assert rows(filled, ANA) == {}


def test_a_user_of_whom_nothing_is_stored_gets_a_receipt(api: Api) -> None:
    assert api.forget_user(user_id="nobody")["tables"] == {}
    with refused("user_id"):
        api.forget_user(user_id="")
    with refused("reason"):
        api.forget_user(user_id="nobody", reason="")


def test_no_role_can_make_the_triggers_pass_by_itself(db: psycopg.Connection, connect: Callable[..., Any]) -> None:
    db.execute("create role app_without_rights login; grant usage on schema memory to app_without_rights")
    db.execute("grant execute on function memory.add_message, memory.delete_thread to app_without_rights")
    try:
        api = Api(connect(user="app_without_rights"))
        api.connection.execute("set memory.rows_are_copied = 'yes'")
        api.add_message(user_id="ana", thread_id="t", role="user", content="Hello")
        api.delete_thread(user_id="ana", thread_id="t")
        assert db.execute("select count(*) from memory.messages").fetchone() == (0,)
    finally:
        db.execute("drop owned by app_without_rights; drop role app_without_rights")


def test_a_condition_on_the_threads_to_delete_passes_no_trigger(
    db: psycopg.Connection, connect: Callable[..., Any]
) -> None:
    db.execute("create role app_without_rights login; grant usage on schema memory to app_without_rights")
    db.execute("grant select, delete on memory.threads, memory.messages to app_without_rights")
    try:
        db.execute(
            "select memory.add_message('ana', thread, 'user', 'Hello')"
            " from unnest('{gone, gone too, kept, kept}'::text[]) as thread"
        )
        app = connect(user="app_without_rights")
        app.execute(
            "create function pg_temp.is_chosen(thread_id text) returns bool language plpgsql as $$ begin"
            " perform set_config('memory.rows_are_copied', 'yes', true);"
            " delete from memory.messages where messages.thread_id = 'kept' and seq = 0;"
            " return thread_id <> 'kept'; end $$"
        )
        app.execute("delete from memory.threads where pg_temp.is_chosen(thread_id)")
        assert db.execute("select thread_id, message_count from memory.threads").fetchall() == [("kept", 1)]
        assert db.execute("select thread_id, seq from memory.messages").fetchall() == [("kept", 1)]
        assert db.execute("select from memory.whole_user_changes").fetchall() == []
    finally:
        db.execute("drop owned by app_without_rights; drop role app_without_rights")


def test_an_import_under_way_is_waited_for(dsn: str) -> None:
    """An import that began before the user was forgotten would bring everything back after it."""
    with psycopg.connect(dsn, autocommit=True) as connection, psycopg.connect(dsn) as importing:
        api = Api(connection)
        api.add_message(user_id="ana", thread_id="t", role="user", content="Hello")
        export = api.export_user(user_id="ana")
        connection.execute("delete from memory.threads where user_id = 'ana'")
        Api(importing).import_user(user_id="ana", export=export)
        connection.execute("set lock_timeout = '100ms'")
        with pytest.raises(psycopg.errors.LockNotAvailable):
            api.forget_user(user_id="ana")
        importing.commit()
        assert api.forget_user(user_id="ana")["tables"]["messages"] == 1
        assert api.import_user(user_id="ana", export=export)["messages"] == 0


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_an_old_snapshot_is_refused(dsn: str, level: str) -> None:
    """Such a transaction would leave what others have stored since it began."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
        export = api.export_user(user_id="ana")
        connection.execute(f"set default_transaction_isolation = '{level}'")
        with refused("user_id", "0A000"):
            api.forget_user(user_id="ana")
        with refused("user_id", "0A000"):
            api.forget_memory(user_id="ana", memory_id=memory_id)
        with refused("user_id", "0A000"):
            api.import_user(user_id="ana", export=export)


@pytest.mark.parametrize("what", ["threads", "memories"])
def test_what_is_written_meanwhile_is_wholly_there_or_wholly_gone(dsn: str, what: str) -> None:
    """Writers go on in old and new threads while the user is forgotten again and again."""
    stop = threading.Event()
    failed: list[BaseException] = []

    def write(number: int) -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                api = Api(connection)
                for count in range(100_000):
                    if stop.is_set():
                        return
                    thread = f"t{number}" if count % 2 else f"t{number}-{count}"
                    if what == "threads":
                        api.add_message(
                            user_id="ana", thread_id=thread, role="user", content="Hello", idempotency_key=str(count)
                        )
                    else:
                        api.add_memory(
                            user_id="ana", content=f"Fact {number} {count}", agent_id=f"a{number}{count % 3}"
                        )
        except BaseException as error:
            failed.append(error)

    def work() -> None:
        try:
            with psycopg.connect(dsn, autocommit=True) as connection:
                api = Api(connection)
                while not stop.is_set():
                    for job in api.claim_jobs(worker="w", max_jobs=3):
                        lease = {"user_id": job.user_id, "job_id": job.job_id, "lease_token": job.lease_token}
                        with contextlib.suppress(psycopg.Error):  # AM001: the user is gone
                            api.fail_job(**lease, error="no answer", retry_after="0")
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=write, args=[number]) for number in range(3)] + [threading.Thread(target=work)]
    for thread in threads:
        thread.start()
    with psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        ends = time.monotonic() + 4
        while time.monotonic() < ends:
            api.forget_user(user_id="ana")
            # One statement sees one moment.
            assert api.query(
                """
                select t.thread_id from memory.threads as t
                where t.message_count <> (select count(*) from memory.messages as m
                                          where m.user_id = t.user_id and m.thread_id = t.thread_id)
                   or t.next_seq <> t.message_count
                union all
                select m.thread_id from memory.messages as m
                where not exists (select from memory.threads as t
                                  where t.user_id = m.user_id and t.thread_id = m.thread_id)
                union all
                select s.agent_id from memory.memory_scopes as s
                where s.memory_count <> (select count(*) from memory.memories as m
                                         where m.user_id = s.user_id and m.agent_id = s.agent_id)
                """
            ) == []  # fmt: skip
        stop.set()
        for thread in threads:
            thread.join()
        assert failed == []
        api.forget_user(user_id="ana")
        assert rows(api, "ana") == {}


def test_a_job_that_parses_artifacts_is_waited_for_without_a_deadlock(dsn: str) -> None:
    """The job holds parts before it ends its lease; forget_user() removes jobs before most other rows."""
    with (
        psycopg.connect(dsn, autocommit=True) as application,
        psycopg.connect(dsn, autocommit=True) as worker,
        psycopg.connect(dsn) as holder,
    ):
        api = Api(application)
        api.store_artifact(user_id=ANA, content="Tea")
        [job] = [job for job in api.claim_jobs(worker="w", max_jobs=9) if job.kind == "parse_artifacts"]
        lease = {"user_id": ANA, "job_id": job.job_id, "lease_token": job.lease_token}
        ended: list[str | None] = []

        def run(call: Callable[[], Any]) -> None:
            try:
                call()
                ended.append(None)
            except psycopg.Error as error:
                ended.append(error.sqlstate)

        holder.execute("select from memory.jobs for update")
        calls = (
            lambda: api.forget_user(user_id=ANA),
            lambda: Api(worker).complete_job(**lease, result={"max_bytes": 1000}),
        )
        threads = [threading.Thread(target=run, args=[call]) for call in calls]
        for waiting, thread in enumerate(threads, 1):
            thread.start()
            while (
                len(holder.execute("select from pg_locks where not granted and locktype <> 'virtualxid'").fetchall())
                < waiting
            ):
                time.sleep(0.01)
        holder.rollback()
        for thread in threads:
            thread.join()
        assert sorted(ended, key=str) == ["AM001", None]
        assert rows(api, ANA) == {}


def test_claims_of_a_forgotten_user_leave_no_mark(api: Api) -> None:
    """A claim that found a job may insert its mark only after the user is gone."""
    api.connection.execute("select memory._insert_claims_mark('ana')")
    assert api.query("select * from memory.marks where user_id <> ''") == []


# A server that dies in the middle of forget_user has forgotten nothing ------------------------------------------------


def test_a_backend_that_is_killed_has_forgotten_nothing(filled: Api, connect: Callable[..., Any], dsn: str) -> None:
    filled.connection.execute("checkpoint")  # what the tests' server has not written is lost with the backend
    before = rows(filled, ANA)
    for delay in (0.0, 0.002, 0.01, 0.03):
        victim = connect()
        victim.execute("begin")

        def forget(victim: psycopg.Connection = victim) -> None:
            with contextlib.suppress(psycopg.Error):
                victim.execute("select memory.forget_user(%s)", [ANA])

        thread = threading.Thread(target=forget)
        thread.start()
        time.sleep(delay)
        os.kill(victim.info.backend_pid, signal.SIGKILL)
        thread.join()
        ends = time.monotonic() + PATIENCE
        while True:
            try:
                with psycopg.connect(dsn, autocommit=True) as connection:
                    assert rows(Api(connection), ANA) == before
                    assert connection.execute("select count(*) from memory.receipts").fetchone() == (0,)
                    break
            except psycopg.OperationalError:
                assert time.monotonic() < ends
                time.sleep(0.1)
