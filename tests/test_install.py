"""The one file that installs and upgrades, what it grants, and dump and restore."""

from __future__ import annotations

import asyncio
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory.worker import Worker
from installer import build_version, execute, install, open_as
from psycopg import errors
from psycopg.conninfo import make_conninfo
from servers import INSTALL_SQL, ROOT, Run, Server
from sqlapi import OLD_STRINGS, Api

ANA = {"user_id": "ana", "thread_id": "t1"}
VERSION = re.findall(r'^version = "(.+)"', (ROOT / "pyproject.toml").read_text(), re.MULTILINE)[0]
FUNCTIONS = "from pg_proc as p where p.pronamespace = 'memory'::regnamespace"


@pytest.fixture
def role(server: Server) -> str:
    """A role that may log in and nothing else."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        if not connection.execute("select from pg_roles where rolname = 'plain'").fetchall():
            connection.execute("create role plain login")
    return "plain"


def use(api: Api) -> None:
    """Leave something in every table behind, with jobs and summaries in each of their states."""
    api.set_policy(settings={"memories": {"max_per_agent": 5}}, agent_id="support")
    api.connection.execute("insert into memory.memory_types values ('allergy', 'Allergies', 'What makes the user ill')")
    api.register_model(name="mini", kind="chat", provider="openai", model="gpt-4.1-mini", settings={"temperature": 0})
    api.talk(**ANA, rounds=10)
    api.add_message(**ANA, role="user", content="Grüße ☕", metadata={"channel": "mail"}, idempotency_key="k1")
    assert api.finish_jobs(memory="Likes tea") == 2  # completed
    api.talk("bob", "t2", 3)
    api.clear_thread(user_id="bob", thread_id="t2")
    memories = [api.add_memory(user_id="ana", agent_id="support", content=f"Fact {n}").memory_id for n in range(7)]
    api.update_memory(user_id="ana", memory_id=memories[6], content="Fact six", tags=["a"], expires_at="infinity")
    api.supersede_memory(user_id="ana", old_memory_id=memories[5], new_memory_id=memories[6], reason="newer")
    api.delete_memory(user_id="ana", memory_id=memories[4])
    api.store_artifact(user_id="ana", thread_id="t1", content="Grüße ☕\n" * 5000, key="log")
    api.talk("cy", "t3", 3)
    api.connection.execute("update memory.jobs set attempts = 4 where status = 'pending'")
    [job] = api.claim_jobs(worker="w")
    api.fail_job(user_id="cy", job_id=job.job_id, lease_token=job.lease_token, error="no")  # dead
    api.talk(**ANA, rounds=10, agent_id="support")
    [_] = api.claim_jobs(worker="w", kinds=["summarize_thread"])  # running; the extraction stays pending


# Installing -----------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F13")
@pytest.mark.parametrize("how", ["psql", "autocommit", "in a transaction"])
def test_the_file_installs_into_an_empty_database(empty_dsn: str, run: Run, server: Server, how: str) -> None:
    if how == "psql":
        result = run("psql", "-XqAt", "-f", INSTALL_SQL, empty_dsn)
        assert result.stdout == ""
        assert result.stderr.endswith(f"NOTICE:  agent_memory {VERSION} is installed\n")
    else:
        with psycopg.connect(empty_dsn, autocommit=how == "autocommit") as connection:
            connection.execute(INSTALL_SQL.read_bytes())
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.version() == VERSION
        assert all(check.ok for check in api.doctor())
        runner = "select lanname from pg_proc p join pg_language l on l.oid = p.prolang where proname = 'run_jobs'"
        assert api.value(runner) == ("plpython3u" if server.has_plpython else "plpgsql")
        assert api.add_message(**ANA, role="user", content="Hello").seq == 0


@pytest.mark.feature("F13")
def test_a_second_run_changes_nothing(dsn: str, db: psycopg.Connection, dump: Callable[..., str], role: str) -> None:
    use(Api(db))
    db.execute(f"grant usage on schema memory to {role}; grant execute on all routines in schema memory to {role}")
    before = dump(dsn)
    install(dsn)
    assert dump(dsn) == before


@pytest.mark.feature("F13")
def test_a_second_run_waits_for_nobody_and_nobody_for_it(connect: Callable[..., psycopg.Connection]) -> None:
    writer, installer, bystander = Api(connect()), connect(), Api(connect(options="-c lock_timeout=1s"))
    triggers = "select oid, xmin::text from pg_trigger where not tgisinternal order by oid"
    before = bystander.query(triggers)

    def write(api: Api, thread_id: str) -> None:
        api.add_message(user_id="ana", thread_id=thread_id, role="user", content="Hello")
        api.add_memory(user_id="ana", agent_id=thread_id, content="Said hello")

    with writer.connection.transaction():
        write(writer, "t1")
        installer.execute(INSTALL_SQL.read_text().rpartition("commit;")[0].encode())
        write(bystander, "t2")
        write(writer, "t3")
        installer.execute("commit")
    write(bystander, "t1")
    assert bystander.query(triggers) == before


@pytest.mark.feature("F13")
def test_two_installers_at_once_are_both_content(empty_dsn: str, server: Server) -> None:
    command = [str(server.bin_dir / "psql"), "-Xq", "--variable=ON_ERROR_STOP=1", "-f", str(INSTALL_SQL), empty_dsn]
    installers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for installer in installers:
        assert installer.communicate()[1].endswith(f"NOTICE:  agent_memory {VERSION} is installed\n")
        assert installer.returncode == 0
    with open_as(empty_dsn) as connection:
        assert Api(connection).version() == VERSION


@pytest.fixture
def file_with(tmp_path: Path) -> Callable[[str], str]:
    """The file as a later version builds it, with one more incremental part."""
    return lambda statements: build_version(tmp_path, {"incremental/900_upgrade.sql": statements})


@pytest.mark.feature("F13")
def test_an_incremental_part_runs_once(dsn: str, file_with: Callable[[str], str]) -> None:
    upgrade = file_with("create table memory.upgraded (at timestamptz);\ninsert into memory.upgraded values (now());\n")
    for _ in range(2):
        install(dsn, upgrade)
    with open_as(dsn) as connection:
        assert Api(connection).value("select count(*) from memory.upgraded") == 1
    with pytest.raises(errors.FeatureNotSupported, match="900_upgrade ran in this database with other contents"):
        install(dsn, file_with("create table memory.upgraded (at timestamptz, other text);\n"))


@pytest.mark.feature("F13")
def test_an_incremental_part_may_change_the_columns_that_functions_are_bound_to(
    dsn: str, file_with: Callable[[str], str]
) -> None:
    install(
        dsn,
        file_with(
            "alter table memory.memories drop column source_seqs;\n"
            "alter table memory.memories alter column embedding_text type varchar;\n"
            "alter table memory.messages alter column idempotency_key type varchar;\n"
        ),
    )
    with open_as(dsn) as connection:
        api = Api(connection)
        api.add_memory(user_id="ana", content="Likes tea", embedding_text="drinks")
        assert [hit.content for hit in api.search(user_id="ana", query="drinks", mode="keyword")] == ["Likes tea"]


@pytest.mark.feature("F13")
def test_what_an_older_version_left_behind_goes_and_what_is_the_users_own_stays(dsn: str) -> None:
    leftovers = ["memory._internal_once()", "memory.add_memory(text, text)"]
    own = ["memory.mine(text)", "memory.mine(int)"]
    for function in leftovers + own:
        execute(dsn, f"create function {function} returns int language sql as 'select 1'")
    install(dsn)
    with open_as(dsn) as connection:
        found = "select f from unnest(%(functions)s::text[]) as f where to_regprocedure(f) is not null"
        assert Api(connection).query(found, functions=leftovers + own) == [(function,) for function in own]


@pytest.mark.feature("F13")
@pytest.mark.parametrize("client", ["psql", "psycopg"])
@pytest.mark.parametrize("existing", [True, False], ids=["upgrade", "first installation"])
@pytest.mark.parametrize(
    "place", ["create type memory.memory ", "call memory._replace_view('queue_stats'", "\ncommit;"]
)
def test_a_failure_half_way_leaves_everything_as_it_was(
    empty_dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path, client: str, existing: bool, place: str
) -> None:
    if existing:
        install(empty_dsn)
        execute(empty_dsn, "drop view memory.stuck_jobs")
    broken = re.sub(re.escape(place), lambda found: f"select 1/0;{found[0]}", INSTALL_SQL.read_text(), count=1)
    if existing and place.startswith("create type"):
        broken = INSTALL_SQL.read_text().replace("-- Refusals", "select 1/0; -- Refusals", 1)
    before = dump(empty_dsn)
    if client == "psql":
        script = tmp_path / "broken.sql"
        script.write_text(broken)
        assert "division by zero" in run("psql", "-Xq", "-f", script, empty_dsn).stderr
    else:
        with pytest.raises(errors.DivisionByZero):
            install(empty_dsn, broken)
    assert dump(empty_dsn) == before


@pytest.mark.feature("F13")
def test_pgvector_may_live_in_any_schema(empty_dsn: str) -> None:
    execute(empty_dsn, 'create schema "Extension Box"; create extension vector schema "Extension Box"')
    install(empty_dsn)
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.add_memory(user_id="ana", content="Likes tea")
        embedding = """'[1,2]'::"Extension Box".vector"""
        assert api.query(f"select content from memory.search('ana', 'tea', query_embedding => {embedding})") == [
            ("Likes tea",)
        ]
        assert "Likes tea" in api.value(f"select memory.render_memories('ana', query_embedding => {embedding})")


@pytest.mark.feature("F13", "E4")
def test_an_approximate_index_finds_pgvector_in_any_schema(empty_dsn: str) -> None:
    execute(empty_dsn, 'create schema "Extension Box"; create extension vector schema "Extension Box"')
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.register_model(name="it's", kind="embedding", provider="openai", model="m", settings={"dimensions": 2})
        api.activate_model(name="it's")
        [[statement]] = api.vector_index(model="it's")
        connection.execute(statement)
        api.set_policy(settings={"search": {"approximate_above": 1}})
        for number in range(20):
            memory_id = api.add_memory(user_id="ana", content=f"Likes tea {number}").memory_id
            row = ["ana", "it's", "memory", str(memory_id), f"[1,{number}]"]
            connection.execute(
                "insert into memory.embeddings (user_id, model, source, id, embedding) values (%s, %s, %s, %s, %s)", row
            )
        target = """'[1,3]'::"Extension Box".vector"""
        statement = f"select content from memory.search('ana', query_embedding => {target}, mode => 'vector')"
        assert api.query(statement)[0] == ("Likes tea 3",)


@pytest.mark.feature("F13")
@pytest.mark.parametrize(
    ("function", "result"), [("pg_column_size(jsonb)", "int"), ("format(text, regprocedure)", "text")]
)
def test_functions_of_others_in_that_schema_are_not_called(empty_dsn: str, function: str, result: str) -> None:
    """Whoever may create functions there could choose better matching arguments than a built-in function has."""
    execute(empty_dsn, "create extension vector")
    body = "begin raise exception 'called'; end"
    execute(empty_dsn, f"create function public.{function} returns {result} language plpgsql as $$ {body} $$")
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        use(Api(connection))


@pytest.mark.feature("F13")
def test_the_file_installs_whatever_strings_mean_in_the_session(empty_dsn: str) -> None:
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, options=OLD_STRINGS)
    with open_as(empty_dsn) as connection:
        use(Api(connection))


@pytest.mark.feature("F13")
def test_an_owner_without_superuser_rights_can_install(empty_dsn: str, role: str) -> None:
    execute(empty_dsn, f"create extension vector; create schema memory authorization {role}")
    for _ in range(2):
        install(empty_dsn, user=role)
    with open_as(empty_dsn, user=role) as connection:
        api = Api(connection)
        assert api.add_message(**ANA, role="user", content="Hello").seq == 0
        assert {check.check_name: check.ok for check in api.doctor()}["in-database runner"]


# Refusing to install --------------------------------------------------------------------------------------------------


def refusal_to_install(dsn: str, dump: Callable[..., str], **parameters: Any) -> psycopg.errors.Diagnostic:
    """What the installer says when it refuses, having changed nothing."""
    before = dump(dsn)
    with pytest.raises(psycopg.Error) as refusal:
        install(dsn, **parameters)
    assert dump(dsn) == before
    assert refusal.value.diag.message_hint
    return refusal.value.diag


@pytest.mark.feature("F13")
def test_without_pgvector_on_the_server_it_says_what_to_install(
    empty_dsn: str, server: Server, dump: Callable[..., str]
) -> None:
    if server.version < 18:
        pytest.skip("only PostgreSQL 18 can be told to look for extensions elsewhere")
    said = refusal_to_install(empty_dsn, dump, options="-c extension_control_path=/nowhere")
    assert said.sqlstate == "0A000"
    assert 'agent_memory needs the extension "vector" (pgvector): extension "vector" is not available' in str(
        said.message_primary
    )
    assert "postgresql-NN-pgvector" in str(said.message_hint)


@pytest.mark.feature("F13")
def test_with_an_old_pgvector_it_says_how_to_update(empty_dsn: str, dump: Callable[..., str]) -> None:
    execute(empty_dsn, "create extension vector; update pg_extension set extversion = '0.7.4' where extname = 'vector'")
    said = refusal_to_install(empty_dsn, dump)
    assert (said.sqlstate, said.message_primary) == ("0A000", "agent_memory needs pgvector 0.8 or newer, this is 0.7.4")
    assert "alter extension vector update" in str(said.message_hint)


@pytest.mark.feature("F13")
def test_without_the_right_to_create_pgvector_it_says_who_can(
    empty_dsn: str, dump: Callable[..., str], role: str
) -> None:
    execute(empty_dsn, f"alter database {psycopg.conninfo.conninfo_to_dict(empty_dsn)['dbname']} owner to {role}")
    said = refusal_to_install(empty_dsn, dump, user=role)
    assert said.sqlstate == "0A000"
    assert 'agent_memory needs the extension "vector" (pgvector): permission denied' in str(said.message_primary)
    assert '"create extension vector" as a superuser' in str(said.message_hint)


@pytest.mark.feature("F13")
def test_another_owner_is_refused(empty_dsn: str, dump: Callable[..., str], role: str) -> None:
    execute(empty_dsn, f"create extension vector; create schema memory authorization {role}")
    install(empty_dsn, user=role)
    said = refusal_to_install(empty_dsn, dump)
    assert said.sqlstate == "42501"
    assert said.message_primary == f'schema "memory" belongs to role "{role}", you are "postgres"'


@pytest.mark.feature("F13")
@pytest.mark.parametrize(
    "content",
    ["create table memory.x ()", "create function memory.f() returns int return 1", "create type memory.t as enum ()"],
)
def test_a_schema_of_something_else_is_refused(empty_dsn: str, dump: Callable[..., str], content: str) -> None:
    execute(empty_dsn, f"create schema memory; {content}")
    said = refusal_to_install(empty_dsn, dump)
    assert said.sqlstate == "42P06"
    assert said.message_primary == 'schema "memory" exists and holds something that is not agent_memory'


@pytest.mark.feature("F13")
@pytest.mark.parametrize("version", ["99.0.0", "0.2.10", "0.10.0"])
def test_an_older_file_does_not_touch_a_newer_installation(dsn: str, dump: Callable[..., str], version: str) -> None:
    execute(dsn, f"insert into memory.migrations (name, sha256, version) values ('900_future', '', '{version}')")
    said = refusal_to_install(dsn, dump)
    assert said.sqlstate == "0A000"
    assert said.message_primary == f"this database has agent_memory {version}, this file is {VERSION}"


# Rights ---------------------------------------------------------------------------------------------------------------


def test_nothing_is_granted_to_everyone(db: psycopg.Connection) -> None:
    api = Api(db)
    assert api.query(f"select proname {FUNCTIONS} and has_function_privilege('public', p.oid, 'execute')") == []
    assert not api.value("select has_schema_privilege('public', 'memory', 'usage, create')")
    tables = "select relname from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'v', 'S')"
    assert api.query(f"{tables} and relacl::text ~ '[{{,]='") == []


def documented_grants() -> str:
    """The example of docs/operations.md, for the roles app and worker."""
    page = (ROOT / "docs" / "operations.md").read_text()
    [example] = re.findall(r"^## Roles.*?^```sql\n(.*?)^```", page, re.MULTILINE | re.DOTALL)
    return str(example)


@pytest.fixture
def granted(db: psycopg.Connection) -> None:
    for name in ("app", "worker"):
        if not db.execute("select from pg_roles where rolname = %s", [name]).fetchall():
            db.execute(f"create role {name} login")
    db.execute(documented_grants().encode())


@pytest.mark.usefixtures("granted")
def test_an_application_with_the_documented_grants_can_do_its_work_without_rights_on_tables(
    connect: Callable[..., psycopg.Connection],
) -> None:
    app = Api(connect(user="app"))
    app.talk(**ANA, rounds=10)
    assert app.add_message(**ANA, role="user", content="Hello").seq == 20
    memory_id = app.add_memory(user_id="ana", content="Likes tea").memory_id
    assert app.update_memory(user_id="ana", memory_id=memory_id, content="Likes green tea") == 2
    newer = app.add_memory(user_id="ana", content="Likes coffee").memory_id
    app.supersede_memory(user_id="ana", old_memory_id=memory_id, new_memory_id=newer, reason="changed")
    assert app.restore_memory(user_id="ana", memory_id=memory_id, version=1) == 4
    assert len(app.get_memory_history(user_id="ana", memory_id=memory_id)) == 4
    assert app.get_memory(user_id="ana", memory_id=memory_id).content == "Likes tea"
    assert app.delete_memory(user_id="ana", memory_id=newer)
    assert len(app.list_memories(user_id="ana")) == len(app.search(user_id="ana", query="tea")) == 1
    assert "Likes tea" in app.render_memories(user_id="ana")
    assert app.get_context(**ANA)[0].source == "memories"
    assert len(app.get_messages(**ANA)) == 21
    assert app.get_job(user_id="ana", job_id=app.extract_memories(**ANA)).status == "pending"
    assert app.summarize_thread(**ANA) > 0
    assert app.get_thread_summary(**ANA) == []
    assert [thread.message_count for thread in app.list_threads(user_id="ana")] == [21]
    key = app.store_artifact(**ANA, content="Tea grows").key
    assert app.retrieve_artifact(user_id="ana", key=key) == "Tea grows"
    assert [row.key for row in app.list_artifacts(user_id="ana")] == [key]
    assert app.delete_artifact(user_id="ana", key=key)
    assert (app.clear_thread(**ANA), app.delete_thread(**ANA)) == (21, 21)


@pytest.mark.usefixtures("granted")
def test_a_worker_with_the_documented_grants_can_do_its_work(server: Server, dsn: str, db: psycopg.Connection) -> None:
    api = Api(db)
    api.talk(**ANA, rounds=10)
    counts = asyncio.run(Worker(make_conninfo(dsn, user="worker")).run(once=True))
    assert counts.completed == 2
    if server.has_plpython:
        api.talk(**ANA, rounds=10)
        with open_as(dsn, user="worker") as connection:
            connection.execute("call memory.run_jobs()")
        assert api.value("select count(*) from memory.jobs where status = 'completed'") == 4


@pytest.mark.usefixtures("granted")
@pytest.mark.parametrize(
    "statement",
    [
        "select * from memory.messages",
        "select * from memory.models",
        "select * from memory.dead_jobs",
        "delete from memory.memories",
        "insert into memory.messages (user_id, thread_id, role, content) values ('ana', 't1', 'user', 'Hello')",
        "select memory.set_policy('{}')",
        "select memory.register_model('m', 'chat', 'openai', 'm')",
        "select memory.sweep()",
        "select memory.claim_jobs('w')",
        "select memory._enqueue('ana', 'extract_memories', 't1')",
        "create function memory.f() returns int return 1",
    ],
)
def test_an_application_can_do_nothing_else(connect: Callable[..., psycopg.Connection], statement: str) -> None:
    with pytest.raises(errors.InsufficientPrivilege):
        connect(user="app").execute(statement.encode())


@pytest.mark.usefixtures("granted")
@pytest.mark.feature("A1")
def test_a_role_that_may_insert_messages_needs_no_other_right(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> None:
    [grant] = re.findall(r"`(grant insert [^`]+)`", (ROOT / "docs" / "operations.md").read_text())
    db.execute(f"{grant} to app".encode())
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


def test_internal_functions_grant_all_they_can_do_only_through_triggers(db: psycopg.Connection) -> None:
    """Executing everything in the schema gives no more than the public functions do."""
    query = f"select proname {FUNCTIONS} and prosecdef and proname like '\\_%%' and prorettype <> 'trigger'::regtype"
    assert Api(db).query(query) == []


# What every object must have ------------------------------------------------------------------------------------------


def test_every_public_function_and_every_relation_has_a_comment(db: psycopg.Connection) -> None:
    functions = (
        f"select proname::text {FUNCTIONS} and proname not like '\\_%%' and obj_description(p.oid, 'pg_proc') is null"
    )
    relations = (
        "select relname::text from pg_class where relnamespace = 'memory'::regnamespace and relkind in ('r', 'v')"
        " and obj_description(oid, 'pg_class') is null"
    )
    assert Api(db).query(f"{functions} union all {relations}") == []


def test_a_function_with_the_owners_rights_searches_nothing_but_the_catalog(db: psycopg.Connection) -> None:
    configured = f"select distinct proconfig[1] {FUNCTIONS} and prosecdef"
    assert Api(db).query(configured) == [("search_path=pg_catalog, pg_temp",)]


def test_a_function_that_forbids_plans_is_never_compiled(db: psycopg.Connection) -> None:
    """A plan with a forbidden step counts as so dear that compiling it would seem worth half a second."""
    settings = "array_to_string(proconfig, ' ')"
    forbidding = f"select proname::text {FUNCTIONS} and {settings} like '%%enable\\_%%=off%%'"
    assert len(Api(db).query(forbidding)) > 5
    assert Api(db).query(f"{forbidding} and {settings} not like '%%jit=off%%'") == []


def test_every_function_states_its_volatility_and_parallel_safety() -> None:
    headers = [
        header
        for path in sorted((ROOT / "sql" / "functions").rglob("*.sql"))
        for header in re.findall(
            r"^create or replace function (.*?)^(?:as \$|begin atomic)", path.read_text(), re.MULTILINE | re.DOTALL
        )
    ]
    assert len(headers) > 50
    stated = re.compile(r"^language \w+ (volatile|stable|immutable) parallel (safe|unsafe)", re.MULTILINE)
    assert [header.partition("(")[0] for header in headers if not stated.search(header)] == []


# Dump and restore -----------------------------------------------------------------------------------------------------


@pytest.mark.feature("F13")
@pytest.mark.parametrize("style", ["plain", "custom"])
def test_dump_drop_and_restore_lose_nothing(
    dsn: str, db: psycopg.Connection, empty_dsn: str, run: Run, tmp_path: Path, style: str
) -> None:
    use(Api(db))
    before = Api(db).state()
    assert all(before.values())
    file = tmp_path / "dump"
    run("pg_dump", f"--format={style}", "--file", file, "--dbname", dsn)
    db.execute("drop schema memory cascade")
    if style == "plain":
        run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "--single-transaction", "-f", file, empty_dsn)
    else:
        run("pg_restore", "--exit-on-error", "--dbname", empty_dsn, file)

    with open_as(empty_dsn) as connection:
        api = Api(connection)
        assert api.state() == before
        assert api.version() == VERSION
        next_seq = api.value("select next_seq from memory.threads where thread_id = 't1'")
        newest_job = api.value("select max(job_id) from memory.jobs")
        assert api.add_message(**ANA, role="user", content="Back again").seq == next_seq
        assert api.add_message(**ANA, role="user", content="Grüße ☕", idempotency_key="k1").seq < next_seq
        assert api.add_memory(user_id="ana", agent_id="support", content="Fact 7").inserted
        assert api.query("select memory_count from memory.memory_scopes where agent_id = 'support'") == [(4,)]
        assert api.store_artifact(user_id="ana", content="Grüße ☕\n" * 5000, key="log").token_count == 15_000
        assert api.summarize_thread(user_id="cy", thread_id="t3") > newest_job
        waiting = api.query("select job_id from memory.jobs where status = 'pending'")
        assert {job.job_id for job in api.claim_jobs(worker="w", max_jobs=100)} == {row.job_id for row in waiting}


@pytest.mark.feature("F13")
def test_the_file_changes_nothing_in_a_restored_database(
    dsn: str, db: psycopg.Connection, empty_dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path
) -> None:
    use(Api(db))
    file = tmp_path / "dump.sql"
    file.write_text(dump(dsn))
    run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "-f", file, empty_dsn)
    install(empty_dsn)
    assert dump(empty_dsn) == file.read_text()


@pytest.mark.feature("F13")
def test_doctor_notices_a_restore_without_privileges_and_the_file_repairs_it(
    empty_dsn: str, dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path
) -> None:
    file = tmp_path / "dump.sql"
    file.write_text(dump(dsn, "--no-acl"))
    run("psql", "-Xq", "--variable=ON_ERROR_STOP=1", "-f", file, empty_dsn)

    def privileges_are_ok() -> bool:
        with open_as(empty_dsn) as connection:
            return bool({check.check_name: check.ok for check in Api(connection).doctor()}["privileges"])

    assert not privileges_are_ok()
    install(empty_dsn)
    assert privileges_are_ok()
