"""forget_user removes everything, says what, and lets nothing else happen."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest

from tests.erasure.conftest import ANA, NEEDLE, forms, rows
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
    filled.connection.execute(
        "insert into memory.model_calls (user_id, call_id, kind, agent_id, model, tokens_in, price, called_at)"
        " select user_id, gen_random_uuid(), 'embed', 'shared', 'm', 0, 0, now() from unnest(%s::text[]) as user_id",
        [[ANA, "bo"]],
    )
    filled.forget_user(user_id=ANA)
    assert filled.query(f"{costs} where agent_id is distinct from 'shared'") == before
    assert filled.value("select count(*) from memory.model_calls where user_id = '' and agent_id = 'shared'") == 1
    [call] = filled.query("select * from memory.model_calls where user_id = '' and price > 0")
    assert (call.agent_id, call.error, call.job_id) == (None, "forgotten", None)


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


def test_a_user_of_whom_nothing_is_stored_gets_a_receipt(api: Api) -> None:
    assert api.forget_user(user_id="nobody")["tables"] == {}
    with refused("user_id"):
        api.forget_user(user_id="")
    with refused("reason"):
        api.forget_user(user_id="nobody", reason="")


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


def test_an_old_snapshot_is_refused(dsn: str) -> None:
    """Such a transaction would leave what others have stored since it began."""
    with psycopg.connect(dsn, autocommit=True) as connection:
        api = Api(connection)
        memory_id = api.add_memory(user_id="ana", content="Likes tea").memory_id
        export = api.export_user(user_id="ana")
        connection.execute("set default_transaction_isolation = 'repeatable read'")
        with refused("user_id", "0A000"):
            api.forget_user(user_id="ana")
        with refused("user_id", "0A000"):
            api.forget_memory(user_id="ana", memory_id=memory_id)
        with refused("user_id", "0A000"):
            api.import_user(user_id="ana", export=export)


def test_claims_of_a_forgotten_user_leave_no_mark(api: Api) -> None:
    """A claim that found a job may insert its mark only after the user is gone."""
    api.connection.execute("select memory._insert_claims_mark('ana')")
    assert api.query("select * from memory.marks where user_id <> ''") == []
