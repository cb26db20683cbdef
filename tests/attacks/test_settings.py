"""Settings that a session makes for itself give it nothing: every one that our functions read, set to what may help."""

from __future__ import annotations

import re
from collections.abc import Callable

import psycopg
import pytest
from psycopg import errors

from tests.attacks.conftest import CONTRACT, create_role
from tests.support.servers import ROOT
from tests.support.sqlapi import Api
from tests.values.bad_arguments import NEED_PGCRYPTO, VALID

HOSTILE = ["on", "x'; drop table memory.messages; --"]
READ = re.compile(r"current_setting\('((?:agent_)?memory\.\w+)'")


def settings() -> list[str]:
    """The settings of our own that some line of the sources reads."""
    files = [*(ROOT / "sql").rglob("*.sql"), *(ROOT / "sql").glob("*.py"), *(ROOT / "plpython").rglob("*.py")]
    return sorted({name for file in files for name in READ.findall(file.read_text(encoding="utf-8"))})


@pytest.mark.feature("F9")
@pytest.mark.parametrize("value", HOSTILE)
def test_no_setting_makes_a_call_fail_strangely_or_return_more(mallory: Api, value: str) -> None:
    def outcomes() -> dict[str, str]:
        found = {}
        for function, arguments in VALID.items():
            if function in NEED_PGCRYPTO:
                continue
            try:
                with mallory.connection.transaction(force_rollback=True):
                    result = getattr(mallory, function)(**arguments)
                    found[function] = f"{len(result) if isinstance(result, list) else 1} rows"
            except psycopg.Error as error:
                found[function] = error.sqlstate or ""
        return found

    usual = outcomes()
    for name in settings():
        mallory.query("select set_config(%(name)s, %(value)s, false)", name=name, value=value)
    hostile = outcomes()
    # A setting that carries a key or a token may be refused when what it carries is no such thing.
    differing = {name: code for name, code in hostile.items() if usual[name] != code}
    assert all(code in CONTRACT for code in differing.values()), differing
    assert not any(usual[name] in CONTRACT for name in differing), differing


@pytest.mark.feature("F9")
@pytest.mark.parametrize("value", HOSTILE)
def test_a_role_that_inserts_messages_cannot_choose_their_numbers(
    connect_as_writer: Callable[[], psycopg.Connection], value: str
) -> None:
    session = connect_as_writer()
    for name in settings():
        session.execute("select set_config(%s, %s, false)", [name, value])
    with pytest.raises(errors.InsufficientPrivilege):
        session.execute(
            "insert into memory.messages (user_id, thread_id, seq, role, content) values ('eve', 't', 7, 'user', 'x')"
        )
    try:
        session.execute("insert into memory.messages (user_id, thread_id, role, content) values ('eve','t','user','x')")
    except psycopg.Error as error:
        assert error.sqlstate in CONTRACT | {"23502"}, error  # noqa: PT017
    seqs = session.execute("select seq from memory.messages where user_id = 'eve'").fetchall()
    assert seqs in ([], [(0,)])


@pytest.fixture
def connect_as_writer(
    db: psycopg.Connection, connect: Callable[..., psycopg.Connection]
) -> Callable[[], psycopg.Connection]:
    """Sessions of a role that may insert messages directly, as docs/roles.md allows."""
    create_role(db, "writer")
    db.execute("grant usage on schema memory to writer; grant select on memory.messages to writer")
    db.execute("grant insert (user_id, thread_id, role, content) on memory.messages to writer")
    return lambda: connect(user="writer")
