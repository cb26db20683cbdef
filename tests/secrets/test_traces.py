"""Nowhere a value or a key in clear: not in the server's log, a dump, a view, or statistics of statements."""

from __future__ import annotations

import asyncio
from base64 import b64decode
from collections.abc import Callable, Iterator

import psycopg
import pytest
from agent_memory import AsyncMemory, Memory
from agent_memory.errors import NotFoundError
from psycopg import errors, sql

from tests.secrets.conftest import Loud, new_key

pytestmark = pytest.mark.feature("C13")

VALUE = "".join(("cor", "rect ", "horse ", "battery ", "staple"))
OLD, NEW = new_key(), new_key()


@pytest.fixture(params=["server", "client"])
def keys(request: pytest.FixtureRequest, loud: Loud, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """Sets the keys in the environment of the server, or of the client of a server that has none."""

    def set_keys(key: str, previous: str | None = None) -> None:
        if request.param == "server":
            loud.set_keys(key, previous)
        else:
            loud.set_keys(None)
            monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY", key)
            if previous is None:
                monkeypatch.delenv("AGENT_MEMORY_SECRET_KEY_PREVIOUS", raising=False)
            else:
                monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY_PREVIOUS", previous)

    yield set_keys
    with loud.connect() as connection:
        connection.execute("truncate memory.secrets, memory.secret_reads")


def everything_visible(connection: psycopg.Connection) -> str:
    """What every view of the schema shows, and the statistics of statements."""
    connection.execute("create extension if not exists pg_stat_statements")
    views = connection.execute(
        "select oid::regclass::text from pg_class where relnamespace = 'memory'::regnamespace and relkind = 'v'"
    ).fetchall()
    shown = [connection.execute(sql.SQL("select * from {}").format(sql.SQL(name))).fetchall() for [name] in views]
    shown += [
        connection.execute(query).fetchall()
        for query in (
            "select query from pg_stat_statements",
            "select query from pg_stat_activity",
            "select * from memory.doctor()",
            "select memory.load_user('ana')",
        )
    ]
    return str(shown)


def test_no_trace_of_a_value_or_a_key(keys: Callable[..., None], loud: Loud, dump: Callable[..., str]) -> None:
    keys(OLD)
    with loud.connect() as connection:
        memory = Memory(connection)
        memory.set_secret("ana", "mail", VALUE)
        assert memory.get_secret("ana", "mail") == VALUE
    keys(NEW, OLD)
    with loud.connect() as connection:
        memory = Memory(connection)
        assert memory.admin.reencrypt_secrets() == 1
    keys(NEW)
    with loud.connect() as connection:
        memory = Memory(connection)
        assert memory.get_secret("ana", "mail") == VALUE
        with pytest.raises(NotFoundError):
            memory.get_secret("ana", "none")
        memory.add_message("ana", "t", "user", "hello")
        places = {
            "log": loud.log(),
            "dump": dump(loud.dsn),
            "views": everything_visible(connection) + str(memory.get_context("ana", "t")),
        }
    for place, text in places.items():
        for secret in (VALUE, OLD, NEW):
            raw = b64decode(secret) if secret != VALUE else secret.encode()
            for form in (secret, raw.hex(), raw.hex().upper(), repr(raw)[2:-1]):
                assert form not in text, (place, form)
    assert "set_secret" in places["log"], "the statements are logged"
    assert " was read by role postgres" in places["log"]


def test_every_kind_of_source_of_a_client_stores_and_reads(loud: Loud, monkeypatch: pytest.MonkeyPatch) -> None:
    loud.set_keys(None)
    monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY", NEW)
    with Memory(loud.dsn) as memory:
        memory.set_secret("ana", "pool", VALUE)
        assert memory.get_secret("ana", "pool") == VALUE
        assert [secret.name for secret in memory.list_secrets("ana")] == ["pool"]
        assert memory.load_user("ana")["secrets"] == ["pool"]
    with psycopg.connect(loud.dsn) as connection:  # the caller's transaction, which the caller ends
        memory = Memory(connection)
        memory.set_secret("ana", "rolled back", VALUE)
        assert memory.get_secret("ana", "rolled back") == VALUE
        connection.rollback()
        assert not memory.delete_secret("ana", "rolled back")
        with connection.transaction():
            memory.set_secret("ana", "kept", VALUE)
            left = connection.execute(
                "select current_setting('agent_memory.secret_mask'), current_setting('agent_memory.secret_key')"
            ).fetchone()
            assert left == ("", ""), "neither the mask nor the key outlives the call"
    with loud.connect() as connection:
        assert Memory(connection).get_secret("ana", "kept") == VALUE

    async def both() -> str:
        async with AsyncMemory(loud.dsn) as twin:
            await twin.set_secret("ana", "async", VALUE)
            return await twin.get_secret("ana", "async")

    assert asyncio.run(both()) == VALUE


def test_a_reading_that_is_rolled_back_stays_in_the_log(loud: Loud) -> None:
    loud.set_keys(NEW)
    with loud.connect() as connection:
        memory = Memory(connection)
        memory.set_secret("ana", "quiet", VALUE)
        with connection.transaction(force_rollback=True):
            memory.get_secret("ana", "quiet")
        assert connection.execute("select from memory.secret_reads where name = 'quiet'").fetchall() == []
    assert " was read by role postgres" in loud.log()


def test_a_server_with_a_key_takes_none_from_a_caller(loud: Loud, monkeypatch: pytest.MonkeyPatch) -> None:
    loud.set_keys(OLD)
    monkeypatch.setenv("AGENT_MEMORY_SECRET_KEY", NEW)
    with loud.connect() as connection:
        Memory(connection).set_secret("ana", "mine", VALUE)
    monkeypatch.delenv("AGENT_MEMORY_SECRET_KEY")
    with loud.connect() as connection:
        assert Memory(connection).get_secret("ana", "mine") == VALUE


def test_only_keys_of_secrets_are_read_from_the_environment(loud: Loud) -> None:
    loud.set_keys(OLD)
    with loud.connect() as connection:
        read = "select memory._server_variable(%s)"
        assert connection.execute(read, ["AGENT_MEMORY_SECRET_KEY"]).fetchone() == (OLD,)
        assert connection.execute(read, ["OPENAI_API_KEY"]).fetchone() == (None,)


def test_a_mask_of_an_earlier_transaction_is_gone(loud: Loud) -> None:
    loud.set_keys(OLD)
    with loud.connect() as connection:
        connection.execute("select memory._secret_mask()")
        connection.execute("select memory.set_secret('ana', 'plain', 'as it is')")
        assert connection.execute("select memory.get_secret('ana', 'plain')").fetchone() == ("as it is",)
        with connection.transaction(force_rollback=True):
            connection.execute("select memory._secret_mask()")
            with pytest.raises(errors.InvalidParameterValue):
                connection.execute("select memory.set_secret('ana', 'plain', 'not in hex')")
