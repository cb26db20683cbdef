"""The audit of administrative calls: what a row says, who may read it, and that nobody changes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import psycopg
import pytest
from psycopg import errors

from tests.install.steps import VERSION
from tests.support.installer import install
from tests.support.servers import ROOT
from tests.support.sqlapi import Api, refused

pytestmark = pytest.mark.feature("F9")


def recorded(api: Api) -> list[tuple[str, str | None, Any]]:
    """Function, user and details of each call, in order, after the installation."""
    rows = api.query(
        "select function, user_id, details from memory.audit where function <> 'install' order by audit_id"
    )
    return [tuple(row) for row in rows]


def test_the_first_row_is_the_installation(api: Api) -> None:
    [first] = api.query("select * from memory.audit order by audit_id limit 1")
    assert (first.function, first.user_id, first.login_role, first.role) == ("install", None, "postgres", "postgres")
    assert (first.details["from"], first.details["to"]) == (None, VERSION)
    addons = {f"{path.name} {VERSION}" for path in (ROOT / "sql" / "addons").iterdir()}
    assert set(first.details["parts"]) in ({VERSION}, {VERSION, *addons})  # of the core alone, or of all


def test_each_administrative_call_leaves_one_row_without_texts(api: Api) -> None:
    api.set_policy(settings={"context": {"max_memories": 7}})
    api.set_policy(settings={"summary": {"enabled": None}}, user_id="ana", agent_id="support")
    model = {"name": "m", "kind": "embedding", "provider": "openai", "model": "m"}
    api.register_model(**model, settings={"dimensions": 8})
    api.activate_model(name="m")
    api.deactivate_model(name="m")
    api.register_model(**(model | {"name": "n"}))
    api.drop_model(name="n")
    prompt = api.value("select template from memory.prompts where name = 'consolidate'")
    api.set_prompt(name="consolidate", template=prompt)
    api.reset_prompt(name="consolidate")
    api.talk("ana", "t1", 5)
    job = api.summarize_thread(user_id="ana", thread_id="t1")
    api.retry_job(user_id="ana", job_id=job)
    assert recorded(api) == [
        ("set_policy", None, {"settings": {"context": {"max_memories": 7}}}),
        ("set_policy", "ana", {"agent_id": "support", "settings": {"summary": {"enabled": None}}}),
        ("register_model", None, model | {"settings": {"dimensions": 8}}),
        ("activate_model", None, {"name": "m"}),
        ("deactivate_model", None, {"name": "m"}),
        ("register_model", None, model | {"name": "n", "settings": {}}),
        ("drop_model", None, {"name": "n"}),
        ("set_prompt", None, {"name": "consolidate", "version": 2}),
        ("reset_prompt", None, {"name": "consolidate", "version": 3}),
        ("retry_job", "ana", {"job_id": job, "kind": "summarize_thread"}),
    ]


def test_calls_of_users_and_refused_calls_leave_none(api: Api) -> None:
    api.talk("ana", "t1", 2)
    api.add_memory(user_id="ana", content="Likes tea")
    api.get_policy()
    api.sweep()
    with refused("settings"):
        api.set_policy(settings={"context": {"nothing": 7}})
    assert recorded(api) == []


def test_a_row_names_the_login_and_the_role_that_it_has_set(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    db.execute("""
        do $$ begin
          create role auditing login; create role operators; grant operators to auditing;
        exception when duplicate_object then null; end $$;
        grant usage on schema memory to operators;
        grant execute on function memory.set_policy to operators""")
    operator = connect(user="auditing")
    operator.execute("set role operators")
    Api(operator).set_policy(settings={"context": {"max_memories": 7}})
    newest = "select login_role, role from memory.audit order by audit_id desc limit 1"
    assert db.execute(newest).fetchone() == ("auditing", "operators")
    for statement in (newest, "insert into memory.audit (role, function) values ('x', 'x')"):
        with pytest.raises(errors.InsufficientPrivilege):
            operator.execute(statement.encode())
    db.execute("grant select on memory.audit to operators")
    assert operator.execute(newest).fetchone() == ("auditing", "operators")


def test_an_administrator_adds_no_row_of_another_call(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    db.execute("create role an_administrator login; grant memory_admin to an_administrator")
    try:
        administrator = connect(user="an_administrator")
        for statement in (
            "select memory._audit('forget_user', '{}', 'ana')",
            "insert into memory.audit (role, function) values ('postgres', 'forget_user')",
        ):
            with pytest.raises(errors.InsufficientPrivilege):
                administrator.execute(statement.encode())
        # Even who was granted the function needs a right on the table.
        db.execute("grant execute on function memory._audit to an_administrator")
        with pytest.raises(errors.InsufficientPrivilege, match="audit"):
            administrator.execute("select memory._audit('forget_user', '{}', 'ana')")
        assert recorded(Api(db)) == []
        Api(administrator).set_policy(settings={"context": {"max_memories": 7}})
        administrator.execute("select memory._audit_schedule('10 seconds', repeat('x', 1000))")
        rows = db.execute("select role, function from memory.audit order by audit_id offset 1").fetchall()
        assert rows == [("an_administrator", "set_policy"), ("an_administrator", "schedule_jobs")]
    finally:
        db.execute("drop owned by an_administrator; drop role an_administrator")


@pytest.mark.parametrize(
    "change",
    [
        "delete from memory.audit",
        "truncate memory.audit",
        "update memory.audit set details = '{}'",
        "update memory.audit set user_id = null, details = '{}', at = '2020-01-01'",
    ],
)
def test_not_even_the_owner_changes_a_row(api: Api, change: str) -> None:
    api.set_policy(settings={"context": {"max_memories": 7}}, user_id="ana")
    with pytest.raises(errors.InsufficientPrivilege, match="400 days"):
        api.query(change)


def test_exports_imports_and_erasures_are_recorded_and_an_erasure_leaves_nothing_of_the_user(api: Api) -> None:
    api.set_policy(settings={"knowledge_base": {"search_triggers": ["my secret diary"]}}, user_id="ana")
    tea = api.add_memory(user_id="ana", content="Likes tea").memory_id
    first = api.forget_memory(user_id="ana", memory_id=tea)
    export = api.export_user(user_id="ana")
    api.export_user(user_id="ana", max_rows=10)
    second = api.forget_user(user_id="ana")
    api.import_user(user_id="ana", export=export)
    rows = recorded(api)
    assert [row[:2] for row in rows] == [
        ("set_policy", None),
        ("forget_memory", None),
        ("export_user", None),
        ("export_user", None),
        ("forget_user", None),
        ("import_user", None),  # nothing came back of a user who was forgotten
    ]
    assert [row[2] for row in rows[:5]] == [{}, {}, {}, {}, {"receipt_id": second["receipt_id"]}]
    assert first["receipt_id"] != second["receipt_id"]
    assert rows[5][2]["lift_tombstones"] is False


def test_sweep_deletes_rows_after_400_days(api: Api) -> None:
    api.query("""
        insert into memory.audit (at, role, function)
        values (now() - interval '401 days', 'x', 'old'), (now() - interval '399 days', 'x', 'newer') returning 1""")
    api.sweep()
    assert [function for function, _, _ in recorded(api)] == ["newer"]


def test_a_repeated_installation_leaves_no_row_and_an_upgrade_one(db: psycopg.Connection, dsn: str) -> None:
    api = Api(db)
    install(dsn)
    assert recorded(api) == []
    db.execute("create or replace function memory.version() returns text language sql as $$ select '0.1.9' $$")
    install(dsn)
    assert recorded(api) == [("upgrade", None, {"from": "0.1.9", "to": VERSION, "parts": []})]
