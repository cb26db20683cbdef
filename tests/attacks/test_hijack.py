"""Objects of an attacker that stand before ours: functions, operators, tables and types in his own schemas.

Public functions run with their owner's rights. If one of them resolved a single name by the caller's search_path, the
caller could run any code as the owner.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest
from psycopg import errors, sql
from psycopg.conninfo import make_conninfo

from tests.attacks.conftest import let_mallory_in
from tests.conftest import Database
from tests.support.servers import Server
from tests.support.sqlapi import TABLES, Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID

# Every function of PostgreSQL and of the extensions whose name our functions contain, with every list of arguments.
SHADOWED_FUNCTIONS = r"""
with used as (
  select distinct w.word
  from pg_proc as p
  cross join lateral regexp_split_to_table(concat(p.prosrc, pg_get_function_sqlbody(p.oid)), '\W+') as w (word)
  where p.pronamespace = 'memory'::regnamespace
)
select distinct p.proname::text as name,
  array(select format_type(a.type, null) from unnest(p.proargtypes) with ordinality as a (type, place) order by a.place)
    as types
from pg_proc as p
where p.pronamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace) and p.prokind = 'f' and p.provariadic = 0
  and p.proname in (select word from used)
  and not exists (select from unnest(p.proargtypes) as a (type) join pg_type as t on t.oid = a.type
                  where t.typtype = 'p')
"""
# Every operator between two types that are no pseudo-types.
SHADOWED_OPERATORS = """
select distinct o.oprname::text as name, format_type(o.oprleft, null) as lefthand,
  format_type(o.oprright, null) as righthand
from pg_operator as o
join pg_type as l on l.oid = o.oprleft and l.typtype <> 'p'
join pg_type as r on r.oid = o.oprright and r.typtype <> 'p'
where o.oprnamespace in ('pg_catalog'::regnamespace, 'public'::regnamespace)
  and (l.typcategory in ('S', 'N', 'D', 'T', 'B', 'A')
       or l.typname in ('jsonb', 'tsvector', 'uuid', 'vector', 'halfvec'))
"""


@pytest.fixture(scope="module")
def hijacked(_database: Database, _template: str) -> Iterator[str]:
    """A database in which every call works, of which the tests of this module see what each has left."""
    with _database("hijacked", _template) as conninfo:
        yield conninfo


@pytest.fixture(scope="module")
def owner(hijacked: str) -> Iterator[Api]:
    with psycopg.connect(hijacked, autocommit=True) as connection:
        yield Api(connection)


@pytest.fixture(scope="module")
def hijacker(hijacked: str, owner: Api) -> Iterator[Api]:
    """A role that may call every function, in a session where its own objects are found first."""
    let_mallory_in(owner)
    with psycopg.connect(make_conninfo(hijacked, user="mallory"), autocommit=True) as connection:
        set_traps(connection)
        connection.execute("set search_path = evil, pg_temp, memory, public, pg_catalog")
        yield Api(connection)
        connection.execute("drop owned by mallory cascade")


def set_traps(session: psycopg.Connection) -> None:
    """Create in schema evil what an attacker would: all that may be found there before ours raises an error."""
    trap = "create function {}({}) returns {} language plpgsql as $$ begin raise exception 'HIJACKED'; end $$"
    api = Api(session)
    with session.transaction():
        for row in api.query(SHADOWED_FUNCTIONS):
            name = sql.Identifier("evil", row.name)
            session.execute(sql.SQL(trap).format(name, sql.SQL(", ").join(map(sql.SQL, row.types)), sql.SQL("text")))
        for number, row in enumerate(api.query(SHADOWED_OPERATORS)):
            name = sql.Identifier("evil", f"trap_{number}")
            types = sql.SQL(row.lefthand), sql.SQL(row.righthand)
            session.execute(sql.SQL(trap).format(name, sql.SQL(", ").join(types), sql.SQL("boolean")))
            session.execute(
                sql.SQL("create operator evil.{} (leftarg = {}, rightarg = {}, function = {})").format(
                    sql.SQL(row.name), *types, name
                )
            )
        for [table] in api.query(TABLES):
            session.execute(sql.SQL("create temp table {} (like memory.{})").format(*[sql.Identifier(table)] * 2))
        for kind in ("vector", "halfvec", "regconfig", "tsvector", "stored_message", "search_result", "memory"):
            session.execute(sql.SQL("create domain {} as text").format(sql.Identifier("evil", kind)))


@pytest.mark.feature("F9")
def test_the_traps_catch_a_statement_that_trusts_the_search_path(hijacker: Api, owner: Api) -> None:
    for careless in ("select lower('A')", "select 1 + 1", "select 'a'::text || 'b'::text", "select now() < now()"):
        with pytest.raises(errors.RaiseException, match="HIJACKED"):
            hijacker.connection.execute(careless.encode())
    assert owner.value("select count(*) from pg_operator where oprnamespace = 'evil'::regnamespace") > 300
    assert owner.value("select count(*) from pg_proc where pronamespace = 'evil'::regnamespace") > 500


@pytest.mark.feature("F9")
def test_no_function_finds_objects_of_its_caller(hijacker: Api) -> None:
    def error_of(function: str) -> str | None:
        try:
            with hijacker.connection.transaction(force_rollback=True):
                getattr(hijacker, function)(**VALID[function])
        except psycopg.Error as error:
            # Without pgcrypto or a key of the server the functions of secrets fail in their own words.
            return None if function in NEED_PGCRYPTO and "HIJACKED" not in str(error) else str(error)
        return None

    assert {function: error for function in VALID if (error := error_of(function))} == {}


@pytest.mark.feature("F9")
def test_no_function_finds_objects_of_its_caller_on_longer_ways(hijacker: Api) -> None:
    """The calls above take the shortest way through each function; these go through filters, jobs and contexts."""
    bob = {"user_id": "bob"}
    thread = {**bob, "thread_id": "t1"}
    for role in ("user", "assistant") * 12:
        hijacker.add_message(**thread, role=role, content="I like tea in May 2026", metadata={"kind": "talk"})
    hijacker.add_message(**thread, role="tool", content="line of a log\n" * 2000, metadata={"command": "make"})
    for number in range(5):
        hijacker.add_memory(**bob, content=f"Likes tea number {number}", tags=["tea"], metadata={"kind": "talk"})
    assert hijacker.finish_jobs(memory="Likes green tea") > 0
    for mode in ("hybrid", "vector", "keyword"):
        hijacker.search(
            **bob,
            query="tea in May",
            query_embedding="[1,0,0]",
            mode=mode,
            tags_any=["tea"],
            filter={"kind": "talk"},
            min_score=0,
            min_confidence=0,
            created_after="2020-01-01",
            as_of="2100-01-01",
            exclude_thread_id="t9",
            explain=True,
        )
    for query in ("tea in May", None):
        hijacker.get_context(**bob, thread_id="t2", query=query)
        hijacker.get_context(**thread, query=query, max_tokens=500)
    hijacker.list_memories(**bob, search="tea", tags_all=["tea"], filter={"kind": "talk"}, as_of="2100-01-01")
    assert hijacker.sweep(batch_size=10)


@pytest.mark.feature("F9")
def test_triggers_and_views_find_no_objects_of_the_session(hijacker: Api, owner: Api) -> None:
    owner.connection.execute(
        "grant insert (user_id, thread_id, role, content), update (content), delete on memory.messages to mallory;"
        "grant insert (user_id, content), update (content), delete on memory.memories, memory.documents to mallory"
    )
    session = hijacker.connection
    session.execute(
        "insert into memory.messages (user_id, thread_id, role, content) values ('dora', 't', 'user', 'tea')"
    )
    for table in ("memories", "documents"):
        session.execute(f"insert into memory.{table} (user_id, content) values ('dora', 'tea')".encode())
    hers = "where user_id operator(pg_catalog.=) 'dora'"
    for table in ("messages", "memories", "documents"):
        session.execute(f"update memory.{table} set content = concat(content, ' now') {hers}".encode())
        assert session.execute(f"delete from memory.{table} {hers}".encode()).rowcount == 1
    views = owner.connection.execute("select viewname from pg_views where schemaname = 'memory'").fetchall()
    for [view] in views:
        session.execute(sql.SQL("select * from {}").format(sql.Identifier("memory", view)))
    assert len(views) > 5


@pytest.mark.feature("F9")
def test_the_runner_finds_no_objects_of_the_session_of_its_owner(
    hijacker: Api, owner: Api, server: Server, hijacked: str
) -> None:
    """The runner commits, so that it cannot run as its owner; an administrator may have any search_path."""
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    hijacker.talk(user_id="carl", thread_id="t1", rounds=12)
    completed = "select count(*) from memory.jobs where status = 'completed' and user_id = 'carl'"
    options = "-c search_path=evil,memory,public,pg_catalog"
    with psycopg.connect(hijacked, options=options, autocommit=True) as session:
        session.execute("call memory.run_jobs()")
    assert owner.value(completed) > 0
    assert owner.value("select count(*) from memory.jobs where error is not null") == 0


@pytest.mark.feature("F9")
def test_a_session_brings_no_modules_of_its_own_into_the_server(mallory: Api, server: Server, tmp_path: Path) -> None:
    """Where Python finds its modules says the environment of the server, which no session can change."""
    if not server.has_plpython:
        pytest.skip("this server has no PL/Python")
    tmp_path.chmod(0o777)
    trace = tmp_path / "trace"
    for module in ("agent_memory_models", "agent_memory_server", "openai", "tiktoken"):
        (tmp_path / f"{module}.py").write_text(f"open({str(trace)!r}, 'w').close()", encoding="utf-8")
    for setting in ("agent_memory.pythonpath", "plpython3.path", "dynamic_library_path"):
        with contextlib.suppress(errors.InsufficientPrivilege, errors.InvalidParameterValue):
            mallory.query("select set_config(%(setting)s, %(path)s, false)", setting=setting, path=str(tmp_path))
    mallory.talk(user_id="bob", thread_id="t1", rounds=12)
    mallory.connection.execute("call memory.run_jobs(max_jobs => 5)")
    assert not trace.exists()
