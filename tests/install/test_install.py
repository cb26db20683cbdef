"""The one file that installs and upgrades, and when it refuses to."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest
from agent_memory.install import install as install_into
from psycopg import errors

from tests.install.steps import ANA, VERSION, of_tables, use
from tests.support.installer import execute, install, open_as
from tests.support.servers import INSTALL_SQL, Run, Server
from tests.support.sqlapi import OLD_STRINGS, Api


@pytest.fixture
def role(server: Server) -> str:
    """A role that may log in and nothing else."""
    with psycopg.connect(server.conninfo(), autocommit=True) as connection:
        if not connection.execute("select from pg_roles where rolname = 'plain'").fetchall():
            connection.execute("create role plain login")
    return "plain"


# Installing -----------------------------------------------------------------------------------------------------------


@pytest.mark.feature("F13")
@pytest.mark.parametrize("how", ["psql", "in a transaction"])
def test_the_file_installs_into_an_empty_database(empty_dsn: str, run: Run, server: Server, how: str) -> None:
    if how == "psql":
        result = run("psql", "-XqAt", "-f", INSTALL_SQL, empty_dsn)
        assert result.stdout == ""
        assert f"NOTICE:  agent_memory {VERSION} is installed\nDETAIL:  Schema memory belongs to " in result.stderr
        assert 'role "postgres", a superuser, with whose rights its functions run. Extensions that' in result.stderr
        assert re.search("agent_memory has made: (pgcrypto, )?(plpython3u, )?vector. Roles: memory_app,", result.stderr)
    else:
        with psycopg.connect(empty_dsn) as connection:
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
def test_a_second_run_waits_for_nobody_and_makes_nobody_wait(connect: Callable[..., psycopg.Connection]) -> None:
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
def test_two_installers_at_once_both_succeed(empty_dsn: str, server: Server, tmp_path: Path) -> None:
    # A busy machine needs longer for the first one than the ten seconds for which the second one would wait.
    patient = tmp_path / "agent_memory.sql"
    patient.write_text(INSTALL_SQL.read_text().replace("lock_timeout = '10s'", "lock_timeout = '5min'"))
    command = [str(server.bin_dir / "psql"), "-Xq", "--variable=ON_ERROR_STOP=1", "-f", str(patient), empty_dsn]
    installers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    for installer in installers:
        assert f"NOTICE:  agent_memory {VERSION} is installed\n" in installer.communicate()[1]
        assert installer.returncode == 0
    with open_as(empty_dsn) as connection:
        assert Api(connection).version() == VERSION


@pytest.fixture
def in_latin(server: Server) -> Iterator[str]:
    """A database in another encoding."""
    execute(server.conninfo(), "create database strange encoding 'LATIN1' locale 'C' template template0")
    yield server.conninfo("strange")
    execute(server.conninfo(), "drop database strange")


def test_a_database_of_another_encoding_is_refused(in_latin: str, run: Run) -> None:
    with open_as(in_latin, client_encoding="UTF8") as connection:
        with pytest.raises(
            errors.FeatureNotSupported, match=r'^agent_memory needs a database in UTF8, .* "strange"'
        ) as error:
            install_into(connection)
        assert "createdb --encoding=UTF8" in str(getattr(error.value, "hint", None))
    refused = run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", INSTALL_SQL, in_latin, check=False)
    assert refused.returncode != 0
    assert 'ERROR:  agent_memory needs a database in UTF8, the encoding of "strange" is' in refused.stderr
    with open_as(in_latin) as connection:
        assert connection.execute("select to_regnamespace('memory')").fetchone() == (None,)


def test_a_session_that_would_change_the_characters_of_the_file_is_refused(empty_dsn: str, run: Run) -> None:
    refused = run(
        "psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", INSTALL_SQL, empty_dsn, check=False, PGCLIENTENCODING="LATIN1"
    )
    assert refused.returncode != 0
    assert "Set the variable PGCLIENTENCODING=UTF8" in refused.stderr
    run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-f", INSTALL_SQL, empty_dsn, PGCLIENTENCODING="UTF8")


@pytest.mark.feature("F13")
def test_functions_of_an_older_version_go_and_objects_of_users_stay(dsn: str) -> None:
    leftovers = ["memory._internal_once()", "memory.add_memory(text, text)"]
    own = ["memory.mine(text)", "memory.mine(int)"]
    for function in leftovers + own:
        execute(dsn, f"create function {function} returns int language sql as 'select 1'")
    install(dsn)
    with open_as(dsn) as connection:
        found = "select f from unnest(%(functions)s::text[]) as f where to_regprocedure(f) is not null"
        assert Api(connection).query(found, functions=leftovers + own) == [(function,) for function in own]


@pytest.mark.feature("F13")
@pytest.mark.parametrize("existing", [True, False])
def test_a_failure_half_way_leaves_everything_as_it_was(
    empty_dsn: str, run: Run, dump: Callable[..., str], tmp_path: Path, existing: bool
) -> None:
    """Psql goes on with the statements after the one that failed."""
    file = INSTALL_SQL.read_text()
    if existing:
        install(empty_dsn)
        execute(empty_dsn, "drop view memory.stuck_jobs")
        function = "create or replace function memory._refuse("
        broken = file.replace(function, f"select 1/0; {function}", 1)
    else:
        doors, first_commit, rest = file.partition("\ncommit;\n")  # doors are a transaction of their own
        broken = doors + first_commit + rest.replace("\ncommit;", "select 1/0;\ncommit;", 1)
    before = dump(empty_dsn)
    script = tmp_path / "broken.sql"
    script.write_text(broken)
    assert "division by zero" in run("psql", "-Xq", "-f", script, empty_dsn).stderr
    assert dump(empty_dsn) == before


@pytest.mark.feature("F13", "E4")
def test_pgvector_may_live_in_any_schema_and_an_approximate_index_finds_it(empty_dsn: str) -> None:
    execute(empty_dsn, 'create schema "Extension Box"; create extension vector schema "Extension Box"')
    install(empty_dsn)
    install(empty_dsn)
    with open_as(empty_dsn) as connection:
        api = Api(connection)
        api.register_model(name="it's", kind="embedding", provider="openai", model="m", settings={"dimensions": 2})
        api.activate_model(name="it's")
        [[statement]] = api.vector_index(model="it's")
        connection.execute(statement)
        api.set_policy(settings={"search": {"approximate_above": 1}})
        for number in range(20):
            api.add_memory(user_id="ana", content=f"Likes tea {number}")
        for job in api.claim_jobs(worker="w", kinds=["embed"]):
            lease = {"user_id": "ana", "job_id": job.job_id, "lease_token": job.lease_token}
            embeddings = [[1, int(text["text"].split()[-1])] for text in job.payload["texts"]]
            api.complete_job(**lease, result={"embeddings": embeddings})
        target = """'[1,3]'::"Extension Box".vector"""
        statement = f"select content from memory.search('ana', query_embedding => {target}, mode => 'vector')"
        assert api.query(statement)[0] == ("Likes tea 3",)


@pytest.mark.feature("F13")
def test_functions_of_others_in_that_schema_are_not_called(empty_dsn: str) -> None:
    """Whoever may create functions there could choose better matching arguments than a built-in function has."""
    execute(empty_dsn, "create extension vector")
    for function, result in (("pg_column_size(jsonb)", "int"), ("format(text, regprocedure)", "text")):
        body = "begin raise exception 'called'; end"
        execute(empty_dsn, f"create function public.{function} returns {result} language plpgsql as $$ {body} $$")
    install(empty_dsn, options=OLD_STRINGS)
    with open_as(empty_dsn) as connection:
        use(Api(connection))


@pytest.mark.feature("F13")
def test_an_owner_without_superuser_rights_installs_and_leaves_tables_of_others_alone(
    empty_dsn: str, role: str
) -> None:
    """The owner of the schema may not change them, so an installation that tried would fail."""
    execute(empty_dsn, f"create extension vector; create schema memory authorization {role}")
    install(empty_dsn, user=role)
    execute(empty_dsn, "create table memory.notes (note text)")
    install(empty_dsn, user=role)
    with open_as(empty_dsn, user=role) as connection:
        api = Api(connection)
        assert api.add_message(**ANA, role="user", content="Hello").seq == 0
        assert {check.check_name: check.ok for check in api.doctor()}["in-database runner"]
    with open_as(empty_dsn) as connection:
        target = "select coalesce(attstattarget, -1) from pg_attribute where attrelid = 'memory.notes'::regclass"
        assert Api(connection).value(f"{target} and attname = 'note'") == -1


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
    database = psycopg.conninfo.conninfo_to_dict(empty_dsn)["dbname"]
    assert f'have a superuser run "create extension vector" in database {database}' in str(said.message_hint)
    assert "Install" not in str(said.message_hint)  # it is installed; what is missing is the right
    execute(empty_dsn, "create extension vector")
    install(empty_dsn, user=role)


@pytest.mark.feature("F13")
def test_another_owner_is_refused(empty_dsn: str, dump: Callable[..., str], role: str) -> None:
    execute(empty_dsn, f"create extension vector; create schema memory authorization {role}")
    install(empty_dsn, user=role)
    said = refusal_to_install(empty_dsn, dump)
    assert said.sqlstate == "42501"
    assert said.message_primary == f'schema "memory" belongs to role "{role}", you are "postgres"'


@pytest.mark.feature("F13")
def test_a_schema_of_something_else_is_refused(empty_dsn: str, dump: Callable[..., str]) -> None:
    execute(empty_dsn, "create schema memory; create function memory.f() returns int return 1")
    said = refusal_to_install(empty_dsn, dump)
    assert said.sqlstate == "42P06"
    assert said.message_primary == 'schema "memory" exists and holds something that is not agent_memory'


@pytest.mark.feature("F13")
def test_an_older_file_does_not_touch_a_newer_installation(dsn: str, dump: Callable[..., str]) -> None:
    execute(dsn, "insert into memory.migrations (name, sha256, version) values ('900_future', '', '1.10.0')")
    said = refusal_to_install(dsn, dump)
    assert said.sqlstate == "0A000"
    assert said.message_primary == f"this database has agent_memory 1.10.0, this file is {VERSION}"


@pytest.mark.feature("F13")
@pytest.mark.parametrize("name", ["0.1.0-0.1.5", of_tables()])
def test_tables_that_no_release_made_are_left_alone(dsn: str, dump: Callable[..., str], name: str) -> None:
    version = name.split("-")[-1]
    execute(
        dsn,
        "delete from memory.migrations;"
        f"insert into memory.migrations (name, sha256, version) values ('{name}', 'of other statements', '{version}')",
    )
    said = refusal_to_install(dsn, dump)
    assert said.sqlstate == "0A000"
    assert said.message_primary == (
        f"this database has tables of an agent_memory {version} that was never released ({name})"
    )
