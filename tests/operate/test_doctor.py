"""What memory.doctor() finds, and that each finding names the command that helps."""

from __future__ import annotations

import re

import psycopg
import pytest

from tests.install.steps import of_tables
from tests.support.protocol import claim, complete
from tests.support.sqlapi import Api


def check(api: Api, name: str) -> tuple[bool, str]:
    [(ok, detail)] = [(row.ok, row.detail) for row in api.doctor() if row.check_name == name]
    return ok, detail


def found(api: Api, name: str) -> str:
    ok, detail = check(api, name)
    assert not ok, detail
    return detail


def test_a_fresh_installation_has_no_finding(api: Api) -> None:
    assert [row for row in api.doctor() if not row.ok] == []


def test_the_indexes_that_are_looked_for_are_those_of_an_installation(api: Api) -> None:
    """The build reads them out of the files of tables: each has to be named there in the usual form."""
    body = api.value("select prosrc from pg_proc where proname = '_check_indexes'")
    names = api.query("select indexname::text from pg_indexes where schemaname = 'memory'")
    assert {row.indexname for row in names if f"('{row.indexname}'," not in body} == set()
    assert body.count("$index$") == 2 * len(names)


def test_the_triggers_that_are_looked_for_are_those_of_an_installation(api: Api) -> None:
    body = api.value("select prosrc from pg_proc where proname = '_check_triggers'")
    triggers = api.query("""
        select c.relname::text, t.tgname::text from pg_trigger as t join pg_class as c on c.oid = t.tgrelid
        where c.relnamespace = 'memory'::regnamespace and not t.tgisinternal""")
    assert [row for row in triggers if f"('{row.relname}', '{row.tgname}')" not in body] == []


@pytest.mark.parametrize("index", ["jobs_one_open_idx", "memories_pkey"])
def test_a_missing_index_is_named_with_the_statement_that_makes_it(api: Api, index: str) -> None:
    definition = "select indexdef from pg_indexes where indexname = %(index)s"
    before = api.value(definition, index=index)
    if index.endswith("_pkey"):
        api.connection.execute(f"alter table memory.{index[:-5]} drop constraint {index} cascade".encode())
    else:
        api.connection.execute(f"drop index memory.{index}".encode())
    detail = found(api, "indexes")
    assert f"index memory.{index} is missing" in detail
    api.connection.execute(detail.partition('run "')[2].rstrip('"').replace("concurrently ", "").encode())
    assert api.value(definition, index=index) == before
    assert check(api, "indexes")[0]


def test_disabled_and_missing_triggers_are_named(api: Api) -> None:
    api.connection.execute("alter table memory.messages disable trigger user")
    assert 'run "alter table memory.messages enable trigger all"' in found(api, "triggers")
    api.connection.execute("alter table memory.messages enable trigger user")
    assert check(api, "triggers")[0]
    api.connection.execute("drop trigger audit_100_before_change on memory.audit")
    assert "trigger audit_100_before_change of memory.audit is missing" in found(api, "triggers")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("grant select on memory.messages to public", "revoke select on memory.messages from public"),
        ("grant delete, update on memory.jobs to a_guest", "revoke delete, update on memory.jobs from a_guest"),
        ("grant execute on function memory.sweep to public", "agent-memory install"),
    ],
)
def test_wide_privileges_are_named_with_the_revoke(api: Api, statement: str, finding: str) -> None:
    api.connection.execute("create role a_guest")
    api.connection.execute(statement.encode())
    assert f'run "{finding}"' in found(api, "privileges")


def test_the_documented_privileges_are_no_finding(api: Api) -> None:
    api.connection.execute("""
        create role a_guest;
        grant usage on schema memory to a_guest;
        grant execute on function memory.add_message, memory.doctor to a_guest;
        grant insert (user_id, thread_id, role, content) on memory.messages to a_guest;
        grant select on memory.queue_stats, memory.secret_reads, memory.audit to a_guest""")
    assert check(api, "privileges")[0]


def test_dead_rows_and_a_table_without_autovacuum_are_named(db: psycopg.Connection) -> None:
    for statement in (
        "alter table memory.memory_scopes set (autovacuum_enabled = false)",
        "insert into memory.memory_scopes (user_id, agent_id) select n::text, 'a' from generate_series(1, 12000) as n",
        "delete from memory.memory_scopes",
        "insert into memory.memory_scopes (user_id, agent_id) values ('ana', 'a'), ('bob', 'a')",
        "select pg_stat_force_next_flush()",
        "select pg_stat_clear_snapshot()",
    ):
        db.execute(statement)
    detail = found(Api(db), "bloat")
    assert "memory.memory_scopes has 12000 dead rows beside about 2 live ones" in detail
    assert 'run "vacuum (analyze) memory.memory_scopes"' in detail
    assert 'run "alter table memory.memory_scopes reset (autovacuum_enabled)"' in detail
    db.execute("vacuum (analyze) memory.memory_scopes")
    db.execute("alter table memory.memory_scopes reset (autovacuum_enabled)")
    assert check(Api(db), "bloat")[0]


def test_jobs_whose_worker_died_and_jobs_that_no_worker_knows_are_named(api: Api) -> None:
    api.talk("ana", "t1", 5)
    api.summarize_thread(user_id="ana", thread_id="t1")
    [job] = api.claim_jobs(worker="w1", kinds=["summarize_thread"])
    api.query(
        "update memory.jobs set lease_expires_at = now() - interval '2 minutes' where status = 'running' returning 1"
    )
    assert 'run "agent-memory worker"' in found(api, "stuck jobs")
    [job] = api.claim_jobs(worker="w2", kinds=["summarize_thread"])
    lease = {"user_id": "ana", "job_id": job.job_id, "lease_token": job.lease_token}
    assert api.fail_job(**lease, error="unknown kind of job: summarize_thread") == "pending"
    detail = found(api, "stuck jobs")
    assert 'worker "w2" does not know 1 jobs of kind summarize_thread' in detail
    assert 'run "pip install --upgrade pg-agent-memory"' in detail


def test_a_model_whose_last_call_failed_is_named(api: Api) -> None:
    api.register_model(name="m", kind="embedding", provider="openai", model="m")
    api.activate_model(name="m")
    assert check(api, "models")[0]
    api.query("""
        insert into memory.model_calls (user_id, call_id, job_id, kind, model, called_at, error)
        values ('ana', gen_random_uuid(), 1, 'embed', 'm', now(), 'the server answered 503') returning 1""")
    detail = found(api, "models")
    assert "the server answered 503" in detail
    assert "its key is set" in detail
    assert "run \"select memory.deactivate_model('m')\"" in detail


def test_a_clock_that_was_set_back_is_named(api: Api) -> None:
    api.query("insert into memory.audit (at, role, function) values (now() + interval '1 hour', 'x', 'x') returning 1")
    assert 'run "timedatectl set-ntp true"' in found(api, "clock")


@pytest.mark.parametrize(
    ("statement", "finding"),
    [
        ("update memory.migrations set version = '0.0.1'", f'the tables are of 0.0.1 and not of {of_tables()}: run "'),
        ("update memory.migrations set version = '99.0.0'", "newer than"),
        ("create procedure memory._lock() language sql as ''", "_lock() was left behind by an upgrade that failed"),
    ],
)
def test_an_unfinished_upgrade_is_named(api: Api, statement: str, finding: str) -> None:
    api.connection.execute(statement.encode())
    assert finding in found(api, "upgrade")


@pytest.mark.usefixtures("db")
def test_a_check_reads_no_table_of_texts(api: Api) -> None:
    """With 1,000,000 messages the doctor takes as long as with none."""
    before = api.entries_read(lambda: api.doctor())
    api.talk("ana", "t1", 500)
    for number in range(300):
        api.add_memory(user_id="ana", agent_id=f"a{number}", content=f"fact {number}")
    api.query("delete from memory.jobs returning 1")
    assert api.entries_read(lambda: api.doctor()) < before + 400


JOB = (
    "insert into memory.jobs (user_id, kind, scope, status, attempts, error, finished_at) values ('ana', 'embed', '', "
)


@pytest.mark.parametrize(
    ("name", "trouble"),
    [
        ("dead jobs", JOB + "'dead', 5, 'the server answered 500', now())"),
        ("budgets", JOB + "'pending', 0, 'AM002: spent', null); update memory.jobs set run_after = now() + '1 h'"),
        ("clock", "insert into memory.jobs (user_id, kind, scope, run_after) values ('ana', 'embed', '', 'infinity')"),
        ("privileges", "grant select on memory.secrets to public"),
        ("triggers", "alter table memory.messages disable trigger all"),
        ("upgrade", "alter table memory.jobs add constraint few check (attempts < 99) not valid"),
        ("roles", "insert into memory.bound_roles (role_name, user_id) values ('it''s gone', 'ana')"),
    ],
)
def test_the_statements_of_a_finding_end_it(api: Api, name: str, trouble: str) -> None:
    api.connection.execute(trouble.encode())
    statements = re.findall(r'run "(\w+ [^"]*)"', found(api, name))
    assert statements
    for statement in statements:
        api.connection.execute(statement.encode())
    ok, detail = check(api, name)
    assert ok, detail


@pytest.mark.feature("B5")
def test_languages_that_the_built_in_model_cannot_read_are_named(api: Api) -> None:
    for unread in ({"Polish": 2, "Dutch": 1}, {"Polish": 1}, {}):
        api.add_message(user_id="ana", thread_id="t", role="user", content="Lubię kawę")
        api.extract_memories(user_id="ana", thread_id="t")
        complete(api, claim(api, "extract_memories"), memories=[], unread=unread)
    is_ok, detail = check(api, "languages")
    assert is_ok
    assert detail.startswith("degraded: the built-in model could not read messages (3 in Polish, 1 in Dutch)")
    [problem] = [
        problem for problem in api.value("select memory.status()")["problems"] if problem["name"] == "languages"
    ]
    assert "could not read messages (3 in Polish, 1 in Dutch)" in problem["detail"]
    api.register_model(name="chat", kind="chat", provider="openai", model="m", settings={})
    api.activate_model(name="chat")
    assert check(api, "languages") == (True, "no message was in a language that the chat model cannot read")


@pytest.mark.feature("F18")
def test_an_embedding_model_that_cannot_read_the_users_is_named(api: Api) -> None:
    model = "sentence-transformers/all-MiniLM-L6-v2"
    api.register_model(name="minilm", kind="embedding", provider="local", model=model)
    api.activate_model(name="minilm")
    said = {
        "ana": "Die Katze ist krank, und ich weiß nicht warum.",
        "bob": "我的猫病了，我不知道为什么。",
        "eve": "The cat is ill.",
    }
    for user, content in said.items():
        api.add_message(user_id=user, thread_id="t", role="user", content=content)
    while api.sweep()["checked"]:
        pass
    is_ok, detail = check(api, "embedding model")
    assert is_ok
    assert '"minilm" reads english only, and users write in other languages (1 in german, 1 in others)' in detail
    api.register_model(name="e5", kind="embedding", provider="local", model="intfloat/multilingual-e5-small")
    api.activate_model(name="e5")
    assert "other languages" not in check(api, "embedding model")[1]
    reads = "select array[memory._reads_language('minilm', 'english'), memory._reads_language('minilm', 'german'), "
    assert api.value(f"{reads} memory._reads_language('e5', 'german')]") == [True, False, True]
