"""The rights that the file grants, and what every object must have."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable

import psycopg
import pytest
from agent_memory.worker import Worker
from psycopg import errors
from psycopg.conninfo import make_conninfo

from tests.install.steps import ANA
from tests.support import rooms
from tests.support.servers import ROOT, Server
from tests.support.sqlapi import Api
from tests.support.summaries import each_round

FUNCTIONS = "from pg_proc as p where p.pronamespace = 'memory'::regnamespace"


# Rights ---------------------------------------------------------------------------------------------------------------


def test_nothing_is_granted_to_everyone(api: Api) -> None:
    granted = api.query(f"select proname {FUNCTIONS} and has_function_privilege('public', p.oid, 'execute')")
    assert granted == [("_changes_whole_user",)]  # conditions of triggers call it with the rights of whoever writes
    assert not api.value("select has_schema_privilege('public', 'memory', 'usage, create')")
    tables = "select relname from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'v', 'S')"
    assert api.query(f"{tables} and relacl::text ~ '[{{,]='") == []


def documented_grants(page: str, heading: str) -> str:
    """An example of a page under docs/, for the roles app and worker."""
    page = (ROOT / "docs" / page).read_text()
    [example] = re.findall(rf"^{heading}$.*?^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(example)


def grant(db: psycopg.Connection, page: str, heading: str) -> None:
    """Grant what a page says; roles are the server's, so an earlier test may have made them and granted more."""
    for name in ("app", "worker"):
        if not db.execute("select from pg_roles where rolname = %s", [name]).fetchall():
            db.execute(f"create role {name} login")
        db.execute(f"revoke memory_{name} from {name}")
    db.execute(re.sub(r"^create role .*", "", documented_grants(page, heading), flags=re.MULTILINE).encode())


NOT_GRANTED = [
    "select * from memory.messages",
    "select * from memory.dead_jobs",
    "delete from memory.memories",
    "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'Hello')",
    "select memory.set_policy('{}')",
    "select memory.sweep()",
    "select memory.claim_jobs('w')",
    "select memory._enqueue('ana', 'extract_memories', 't1')",
    "create function memory.f() returns int return 1",
]


@pytest.mark.parametrize(("page", "heading"), [("operations.md", "## Roles"), ("roles.md", "## Without these roles")])
def test_with_the_documented_grants_an_application_and_a_worker_do_their_work_and_no_more(
    server: Server, dsn: str, connect: Callable[..., psycopg.Connection], page: str, heading: str
) -> None:
    owner = connect()
    grant(owner, page, heading)
    each_round(Api(owner))
    app = Api(connect(user="app"))
    app.talk(**ANA, rounds=10)
    memory_id = app.add_memory(user_id="ana", content="Likes tea").memory_id
    newer = app.add_memory(user_id="ana", content="Likes coffee").memory_id
    app.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=newer, reason="changed")
    assert app.restore_memory(user_id="ana", memory_id=memory_id, version=1) == 3
    assert app.delete_memory(user_id="ana", memory_id=newer)
    assert len(app.list_memories(user_id="ana")) == len(app.search(user_id="ana", query="Likes tea", top_k=1)) == 1
    assert app.get_context(**ANA)[0].source == "memories"
    key = app.store_artifact(**ANA, content="Tea grows").key
    assert app.retrieve_artifact(user_id="ana", key=key) == "Tea grows"
    for statement in NOT_GRANTED:
        with pytest.raises(errors.InsufficientPrivilege):
            app.connection.execute(statement.encode())

    assert asyncio.run(Worker(make_conninfo(dsn, user="worker")).run(once=True)).completed > 0
    if server.has_plpython:
        job_id = app.summarize_user(user_id="ana")
        connect(user="worker").execute("call memory.run_jobs()")
        assert app.get_job(user_id="ana", job_id=job_id).status == "completed"
    assert app.delete_thread(**ANA) == 20


@pytest.mark.feature("A1")
def test_a_role_that_may_insert_messages_needs_no_other_right(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    grant(db, "operations.md", "## Roles")
    [further] = re.findall(r"`(grant insert [^`]+)`", (ROOT / "docs" / "roles.md").read_text())
    db.execute(f"{further} to app".encode())
    app = connect(user="app")
    app.execute(
        "insert into memory.messages (user_id, thread_id, role, content)"
        " select 'ana', 't1', 'user', n::text from generate_series(1, 12) as n"
    )
    assert Api(db).query("select message_count, next_seq from memory.threads") == [(12, 12)]
    with pytest.raises(errors.InsufficientPrivilege):
        app.execute(
            "insert into memory.messages (user_id, thread_id, seq, role, content) values ('ana', 't1', 99, 'user', 'x')"
        )


def test_internal_functions_grant_all_they_can_do_only_through_triggers(api: Api) -> None:
    """Executing everything in the schema gives no more than the public functions do."""
    query = f"select proname {FUNCTIONS} and prosecdef and proname like '\\_%%' and prorettype <> 'trigger'::regtype"
    # The first says whether the transaction is an import or an erasure, the second adds a row about the caller, and the
    # third tells clients which node of a cluster serves whom.
    known = {"_changes_whole_user", "_audit_schedule", "_cluster_map"}
    assert {name for [name] in api.query(query)} == known


# What every object must have ------------------------------------------------------------------------------------------


def test_every_public_function_every_relation_every_column_and_every_type_has_a_comment(api: Api) -> None:
    functions = (
        f"select proname::text {FUNCTIONS} and proname not like '\\_%%' and obj_description(p.oid, 'pg_proc') is null"
    )
    relations = (
        "select relname::text from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'v')"
        " and obj_description(oid, 'pg_class') is null"
    )
    columns = (
        "select c.relname || '.' || a.attname from pg_attribute as a join pg_class as c on c.oid = a.attrelid"
        " where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped"
        " and col_description(c.oid, a.attnum) is null"
    )
    # The types that functions return, not the row types of tables and views.
    types = (
        "select t.typname::text from pg_type as t join pg_class as c on c.oid = t.typrelid"
        " where t.typnamespace = 'memory'::regnamespace and c.relkind = 'c'"
        " and obj_description(t.oid, 'pg_type') is null"
    )
    assert api.query(f"{functions} union all {relations} union all {columns} union all {types}") == []


def test_a_function_with_the_owners_rights_searches_nothing_but_the_catalog(api: Api) -> None:
    configured = f"select distinct proconfig[1] {FUNCTIONS} and prosecdef"
    assert api.query(configured) == [("search_path=pg_catalog, pg_temp",)]


def test_a_function_that_forbids_plans_is_never_compiled(api: Api) -> None:
    """A plan with a forbidden step counts as so dear that compiling it would seem worth half a second."""
    settings = "array_to_string(proconfig, ' ')"
    forbidding = f"select proname::text {FUNCTIONS} and {settings} like '%%enable\\_%%=off%%'"
    assert len(api.query(forbidding)) > 5
    # Private functions run within a public one or a trigger, whose setting holds for them as well.
    public = "(proname not like '\\_%%' or prorettype = 'trigger'::regtype)"
    assert api.query(f"{forbidding} and {public} and {settings} not like '%%jit=off%%'") == []


def test_every_function_states_its_volatility_and_parallel_safety() -> None:
    headers = [
        header
        for path in rooms.files("*.sql")
        for header in re.findall(
            r"^create or replace function (.*?)^(?:as \$|begin atomic)", path.read_text(), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(headers) > 50
    stated = re.compile(r"^language \w+ (volatile|stable|immutable) parallel (safe|unsafe)", re.MULTILINE)
    assert [header.partition("(")[0] for header in headers if not stated.search(header)] == []
