"""Installs the SQL file that is shipped with the package."""

from __future__ import annotations

import lzma
import re
from contextlib import suppress
from importlib.metadata import version
from importlib.resources import files
from typing import Any

import psycopg
from psycopg.sql import Identifier

from .calls import translated
from .errors import NotSupportedError, PermissionDeniedError
from .schema import SCHEMA, file_in_schema, in_schema, named_schema, schema_of

_HELD_BACK = {":": "：", "%": "％", "?": "？", "${": "＄{"}
"""What tools look for in the statements that they run, to put values there, and what stands for that instead."""
_PARTS = re.compile(rb".+?\n\$(?:doors|head|known)\$;\n|.+", re.DOTALL)
_ONE_STATEMENT = """\
-- Installs agent_memory {version}, or upgrades what is there, within the transaction that runs this one statement,
-- and leaves the settings of that transaction as they were. If it fails, nothing has changed.
--
-- The text within is build/agent_memory.sql without its transactions. The characters that migration tools and drivers
-- replace (colons, percent signs, question marks, dollars before braces) stand as their fullwidth twins.
do $agent_memory$
declare
  before constant jsonb default (
    select pg_catalog.jsonb_object_agg(s.name, s.setting) from pg_catalog.pg_settings as s);
  problem text;
  detail text;
  hint text;
  context text;
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if current_setting('transaction_isolation') not in ('read committed', 'read uncommitted') then
    raise exception using errcode = '25001', message = 'agent_memory needs a transaction of the level read committed',
      detail = 'An installation must see what an installer before it has committed.',
      hint = 'Have the tool begin its transaction with that isolation level.';
  end if;
  execute translate($statements$
{statements}
$statements$, '：％？＄', chr(58) || chr(37) || chr(63) || chr(36));
  perform set_config(s.name, before ->> s.name, true)
  from pg_settings as s where s.setting <> before ->> s.name;
exception when others then
  -- PostgreSQL would add all of the statements to the error.
  get stacked diagnostics problem = message_text, detail = pg_exception_detail, hint = pg_exception_hint,
    context = pg_exception_context;
  raise exception using errcode = sqlstate, message = problem,
    detail = coalesce(nullif(detail, ''), left(context, 200)),
    hint = coalesce(nullif(hint, ''), 'Nothing was changed.');
end;
$agent_memory$;
"""


def sql_file(schema: str | None = None, *, core: bool = False) -> bytes:
    """Return the SQL file that ``install`` executes."""
    compressed = files(__package__).joinpath("install.xz")
    if compressed.is_file():
        built = lzma.decompress(compressed.read_bytes()).split(b"\0")[core]
    else:  # an editable installation
        built = files(__package__).joinpath("agent_memory_core.sql" if core else "agent_memory.sql").read_bytes()
    return file_in_schema(built.decode(), named_schema(schema)).encode()


def roles_file(schema: str | None = None) -> str:
    """Return the SQL file that ``create_roles`` executes."""
    return file_in_schema(files(__package__).joinpath("agent_memory_roles.sql").read_text(), named_schema(schema))


def one_statement(schema: str | None = None, *, core: bool = False) -> str:
    """Return the SQL that installs or upgrades within a transaction of the caller's, as one statement.

    It takes no parameters, and holds nothing that a driver or a migration tool would take for one. Unlike ``install``
    it puts no door before the functions of an older version: calls that are under way meanwhile may fail.
    """
    # After the transaction that makes the doors.
    _, commit, statements = sql_file(schema, core=core).decode().partition("\ncommit;\n")
    assert commit, "the file has transactions"
    for line in ("\nbegin isolation level read committed;\n", "\ncommit;\n"):
        statements = statements.replace(line, "\n", 1)
    for held_back, stands_for_it in _HELD_BACK.items():
        statements = statements.replace(held_back, stands_for_it)
    return _ONE_STATEMENT.format(version=version("pg-agent-memory"), statements=statements.strip())


def create_roles(connection: psycopg.Connection[Any], schema: str | None = None) -> None:
    """Create the roles of agent_memory that are missing, for an owner of the schema who may not create roles.

    Args:
        connection: in autocommit mode, of a role with CREATEROLE.
        schema: as in ``install``.

    Raises:
        psycopg.errors.InsufficientPrivilege: the role may not create roles.
    """
    connection.execute(roles_file(schema_of(connection, schema)).encode())


def installed_version(connection: psycopg.Connection[Any], schema: str | None = None) -> str:
    """Return the version that a database has.

    Raises:
        NotInstalledError: it has none.
    """
    schema = schema_of(connection, schema)
    with translated(connection, "version", schema):
        asked = connection.execute(in_schema("select memory.version()", schema))
        return str(asked.fetchone()[0])  # type: ignore[index]


def install(connection: psycopg.Connection[Any], schema: str | None = None, *, core: bool = False) -> None:
    """Install agent_memory, or upgrade what is there; doing it again changes nothing.

    Args:
        connection: in autocommit mode, since the file is a transaction of its own.
        schema: the schema; None is that of AGENT_MEMORY_SCHEMA, else ``memory``.
        core: without the add-ons. A later installation with them adds what is missing.

    Raises:
        InvalidValueError: the name of the schema would need quotes.
        NotSupportedError: the database has another encoding than UTF8.
        PermissionDeniedError: the role may not create the schema.
        psycopg.Error: it cannot be installed for another reason, which the message says. Nothing was changed.
    """
    # The file says the same, but a driver sends all of the file at once, and the server refuses its characters first.
    encoding = connection.info.parameter_status("server_encoding")
    if encoding not in ("UTF8", None):
        raise NotSupportedError(
            f'agent_memory needs a database in UTF8, the encoding of "{connection.info.dbname}" is {encoding}',
            hint="Make one: createdb --encoding=UTF8 --template=template0 --locale=C.UTF-8 NAME",
        )
    schema = schema_of(connection, schema)
    try:
        execute(connection, sql_file(schema, core=core), schema)
    except psycopg.errors.InsufficientPrivilege as error:
        if error.diag.message_hint is not None:
            raise
        database, role = (Identifier(name).as_string(None) for name in (connection.info.dbname, connection.info.user))
        raise PermissionDeniedError(
            error.diag.message_primary or str(error),
            hint=f"Connect as the owner of the database, who may also: grant create on database {database} to {role}",
        ) from error


def execute(connection: psycopg.Connection[Any], script: bytes, schema: str = SCHEMA) -> None:
    """Run an install file. If it fails, take away the doors that its first transaction has put before the functions.

    The checks at its beginning are sent before the rest: a server writes what it refuses into its log, all of it.
    """
    try:
        for part in _PARTS.findall(script):
            connection.execute(part, prepare=False)
    except psycopg.Error:
        with suppress(psycopg.Error):  # without a connection the doors stay, which harms nobody
            connection.rollback()
            if connection.execute(in_schema("select to_regprocedure('memory._door()')", schema)).fetchone() != (None,):
                connection.execute(in_schema("call memory._door()", schema))
        raise
