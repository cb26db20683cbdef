"""Databases, roles and connections that the client cannot use: which error says what is missing."""

import asyncio
import re
import traceback
from importlib.metadata import version
from pathlib import Path

import psycopg
import pytest
from agent_memory import (
    AgentMemoryError,
    AsyncMemory,
    InvalidValueError,
    Memory,
    NotConnectedError,
    NotInstalledError,
    PermissionDeniedError,
)
from agent_memory.install import install
from psycopg.conninfo import conninfo_to_dict, make_conninfo
from psycopg_pool import ConnectionPool, PoolTimeout

from tests.support.runners import PATIENCE
from tests.support.servers import Server


class TestSetup:
    """What somebody meets whose database, role or connection is not what the client needs."""

    def test_no_agent_memory(self, server: Server, empty_dsn: str) -> None:
        async def twin() -> None:
            async with AsyncMemory(empty_dsn) as memory:
                await memory.version()

        dbname = conninfo_to_dict(empty_dsn)["dbname"]
        with psycopg.connect(empty_dsn) as in_transaction, Memory(empty_dsn) as pooled:
            for call in (Memory(in_transaction).version, pooled.version, lambda: asyncio.run(twin())):
                with pytest.raises(NotInstalledError) as raised:
                    call()
                assert raised.value.sqlstate == "3F000"
                where = f'database "{dbname}" on {server.host}:{server.port}'
                assert raised.value.message == f"there is no agent_memory in {where}"
                named = f"host={server.host} port={server.port} dbname={dbname}"
                assert raised.value.hint == f"Run, as the owner of the database: agent-memory install --dsn '{named}'"
                assert isinstance(raised.value.__cause__, psycopg.Error)

    def test_a_password_is_not_shown(self, empty_dsn: str) -> None:
        with (
            Memory(make_conninfo(empty_dsn, password="secret-word")) as memory,
            pytest.raises(NotInstalledError) as raised,
        ):
            memory.version()
        assert "secret-word" not in "".join(traceback.format_exception(raised.value))

    def test_a_schema_of_that_name_is_not_agent_memory(self, empty_dsn: str) -> None:
        with psycopg.connect(empty_dsn, autocommit=True) as connection:
            connection.execute("create schema memory")
            with pytest.raises(NotInstalledError, match="there is no agent_memory in database"):
                Memory(connection).list_threads("ana")

    def test_a_path_given_as_a_connection_string_is_told_how_to_open_a_store(self, tmp_path: Path) -> None:
        with (
            pytest.raises(NotConnectedError, match="cannot be read") as raised,
            Memory(str(tmp_path / "x.db")) as memory,
        ):
            memory.version()
        assert "For a store in a folder: Memory(path=...)." in (raised.value.hint or "")

    @pytest.mark.parametrize(
        ("conninfo", "said"),
        [
            (
                "postgresql+psycopg://u:hidden@localhost/app",
                ": postgresql+psycopg:// is for SQLAlchemy, write postgresql://",
            ),
            (
                "postgresql://u:hi?dden=@localhost/app?sslmode=disable&schema=hidden&connection_limit=1",
                ": libpq knows no parameter schema, connection_limit, leave it out",
            ),
            ("mysql://u:hidden@localhost/app", ": it begins with another scheme"),
            ("postgresql://u:hi?dden=@local host/app", ""),
        ],
    )
    def test_what_libpq_cannot_read_is_named_without_values(self, conninfo: str, said: str) -> None:
        with pytest.raises(NotConnectedError) as raised, Memory(conninfo) as memory:
            memory.version()
        assert raised.value.message == "the connection string cannot be read" + said
        assert "hi" not in str(raised.value).replace("which", "")

    @pytest.mark.parametrize(
        ("installed", "instead"), [("0.0.9", "agent-memory install --dsn"), ("99.0.0", "pip install --upgrade")]
    )
    def test_another_version(self, dsn: str, db: psycopg.Connection, installed: str, instead: str) -> None:
        db.execute(f"create or replace function memory.version() returns text language sql return '{installed}'")
        db.execute("drop function memory.consolidate")
        with pytest.raises(NotInstalledError) as raised:
            Memory(db).consolidate("ana")
        assert f"has agent_memory {installed}; this client is {version('pg-agent-memory')}: " in raised.value.message
        assert "function memory.consolidate(" in raised.value.message
        assert instead in (raised.value.hint or "")
        # Nobody can be asked in a transaction that has failed.
        with psycopg.connect(dsn) as connection, pytest.raises(NotInstalledError, match="or an older one"):
            Memory(connection).consolidate("ana")

    def test_an_argument_of_a_newer_version(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute("drop function memory.reconcile_memories")
        db.execute("create function memory.reconcile_memories(user_id text) returns bigint language sql return 1")
        with pytest.raises(NotInstalledError, match=r"this client is .*reconcile_memories"):
            memory.reconcile_memories("ana", n=5)

    def test_a_column_of_a_newer_version(self, db: psycopg.Connection, memory: Memory) -> None:
        db.execute("drop function memory.doctor")
        db.execute("create function memory.doctor() returns table (check_name text) language sql return 'x'")
        with pytest.raises(NotInstalledError, match="a Check lacks ok, detail") as raised:
            memory.admin.doctor()
        assert raised.value.hint == "Run: agent-memory install"

    def test_a_function_that_a_users_trigger_misses_is_not_reported_as_ours(
        self, db: psycopg.Connection, memory: Memory
    ) -> None:
        db.execute(
            "create function mine() returns trigger language plpgsql as 'begin perform nonsense(); return new; end'"
        )
        db.execute("create trigger mine before insert on memory.messages for each row execute function mine()")
        with pytest.raises(psycopg.errors.UndefinedFunction, match="nonsense"):
            memory.add_message("ana", "t1", "user", "Hi")

    def test_missing_grants_are_named(self, db: psycopg.Connection, memory: Memory) -> None:
        grants = ["grant usage on schema memory to", "grant execute on function memory.list_threads to"]
        db.execute('create role "Stranger"; set role "Stranger"')
        try:
            for grant, problem in zip(grants, ("schema memory", "function list_threads"), strict=True):
                with pytest.raises(PermissionDeniedError, match=f"permission denied for {problem}") as raised:
                    memory.list_threads("ana")
                assert 'role "Stranger" in database "test_' in raised.value.message
                assert all(f'{named} "Stranger";' in (raised.value.hint or "") for named in grants)
                db.execute(f'reset role; {grant} "Stranger"; set role "Stranger"')
            assert memory.list_threads("ana") == []
        finally:
            db.execute('reset role; drop owned by "Stranger"; drop role "Stranger"')

    def test_a_failed_transaction(self, dsn: str) -> None:
        with psycopg.connect(dsn) as connection:
            memory = Memory(connection)
            with pytest.raises(InvalidValueError):
                memory.list_threads("")
            with pytest.raises(AgentMemoryError, match="an earlier statement of this transaction failed") as raised:
                memory.list_threads("ana")
            assert (raised.value.sqlstate, (raised.value.hint or "")[:9]) == ("25P02", "Roll back")
            connection.rollback()
            assert memory.list_threads("ana") == []

    def test_closed_and_exhausted(self, dsn: str) -> None:
        memory = Memory(dsn)
        memory.close()
        with pytest.raises(NotConnectedError, match="this Memory was closed") as raised:
            memory.version()
        assert raised.value.hint == "Make a new one."
        with (
            ConnectionPool(dsn, min_size=1, max_size=1, timeout=0.1, open=True) as pool,
            pool.connection(timeout=PATIENCE),
            pytest.raises(PoolTimeout, match="all 1 connections are in use"),
        ):
            Memory(pool).version()

    def test_install_without_the_right_to(self, empty_dsn: str) -> None:
        with psycopg.connect(empty_dsn, autocommit=True) as owner:
            owner.execute("create extension vector; create role guest login")
            with (
                psycopg.connect(make_conninfo(empty_dsn, user="guest"), autocommit=True) as connection,
                pytest.raises(PermissionDeniedError, match="permission denied for database") as raised,
            ):
                install(connection)
            assert re.search(r'grant create on database "test_\d+" to "guest"', raised.value.hint or "")
            owner.execute("drop role guest")
