"""The schema of an installation, and the SQL of an installation whose schema is not ``memory``.

All SQL is written for schema ``memory``. ``in_schema`` writes another name into the places where the word is the name
of the schema, whether in code, in quoted text or in comments, because bodies of functions are quoted text as well.
"""

from __future__ import annotations

import os
import re
from functools import cache
from typing import Any, TypeVar

from psycopg import AsyncCursor, Cursor, sql

from .errors import InvalidValueError

SCHEMA = "memory"
"""The schema in all sources, and of an installation that is given no other name."""
_NAME = re.compile(r"(?!pg_)[a-z_][a-z0-9_]{0,39}")
# Elsewhere the word is English, a source of search, a part of a policy or a type.
_PLACES = re.compile(
    r"""memory(?:
      (?<![\w.$-]memory)(?=\.[a-z_%<[]|\[[.]\])                          # memory.messages, memory.%I; as a pattern
      | (?<="memory)(?="\.")                                             # a quoted name, as psycopg writes it
      | (?<='memory)(?=\.'[ ]\|\||'::regnamespace|'+,[ ]'+(?:create|usage)')  # 'memory.' || name; a right on it
      | (?<=regnamespace\('memory)(?='\))
      | (?<='schema',[ ]'memory)(?=')
      | (?<=nspname[ ]=[ ]'memory)(?=')
      | (?<=schemaname[ ]=[ ]'memory)(?=')
      | (?<=\bschema[ ]memory)\b
      | (?<=\bschema[ ]"memory)(?=")
    )""",
    re.VERBOSE,
)
_ROLES = re.compile(r"\bmemory(?=_(?:app|tenant|worker|reader|admin)\b|_[*][_' ])")
_RESERVED = frozenset(
    re.findall(
        r"\w+",
        """all analyse analyze and any array as asc asymmetric authorization binary both case cast check collate
        collation column concurrently constraint create cross current_catalog current_date current_role
        current_schema current_time current_timestamp current_user default deferrable desc distinct do else end
        except false fetch for foreign freeze from full grant group having ilike in information_schema initially
        inner intersect into is isnull join lateral leading left like limit localtime localtimestamp natural not
        notnull null offset on only or order outer overlaps placing primary public references returning right select
        session_user similar some symmetric system_user table tablesample then to trailing true union unique user
        using variadic verbose when where window with""",
    )
)
"""Words that SQL takes for something else, and schemas that are not ours."""
Query = TypeVar("Query")


def named_schema(schema: str | None = None) -> str:
    """Return a schema, else that of the environment's AGENT_MEMORY_SCHEMA, else ``memory``."""
    name = schema if schema is not None else os.environ.get("AGENT_MEMORY_SCHEMA") or SCHEMA
    if not isinstance(name, str) or not _NAME.fullmatch(name) or name in _RESERVED:
        raise InvalidValueError(
            f"schema: {name!r} cannot be the schema of agent_memory",
            hint="Take 1 to 40 small letters, digits and underscores, no digit first, that are no word of SQL.",
        )
    return name


def schema_of(source: Any, schema: str | None = None) -> str:
    """Return the schema that is named, else that of a connection or pool made with ``cursors_in``, else the default."""
    options = getattr(source, "kwargs", None)  # of a pool
    made = options.get("cursor_factory") if isinstance(options, dict) else getattr(source, "cursor_factory", None)
    return named_schema(schema if schema is not None else getattr(made, "schema", None))


def in_schema(query: Query, schema: str) -> Query:
    """Return SQL that is written for schema ``memory``, as text, bytes or psycopg's own, for another schema.

    Values in a statement that psycopg composes stay as they are.
    """
    changed: Any = query
    if schema == SCHEMA:
        pass
    elif isinstance(query, str):
        changed = _PLACES.sub(schema, query)
    elif isinstance(query, bytes):
        changed = _PLACES.sub(schema, query.decode()).encode()
    elif isinstance(query, sql.Composed):
        changed = sql.Composed([in_schema(part, schema) for part in query])
    elif isinstance(query, sql.SQL):
        changed = sql.SQL(in_schema(query._obj, schema))
    elif isinstance(query, sql.Identifier) and query._obj[0] == SCHEMA and len(query._obj) > 1:
        changed = sql.Identifier(schema, *query._obj[1:])
    return changed  # type: ignore[no-any-return]


def file_in_schema(built: str, schema: str) -> str:
    """Return an install file for a schema. Its roles have the schema's name, too; statements take theirs from there."""
    return built if schema == SCHEMA else _ROLES.sub(schema, in_schema(built, schema))


@cache
def cursors_in(schema: str, kind: type[Any] = Cursor) -> type[Any]:
    """Return the class of cursors for connections of our own: their statements reach the schema."""
    if schema == SCHEMA:
        return type(kind.__name__, (kind,), {"schema": schema})

    class InSchema(kind):  # type: ignore[misc]
        def execute(self, query: Any, *arguments: Any, **options: Any) -> Any:
            return super().execute(in_schema(query, schema), *arguments, **options)

        def executemany(self, query: Any, *arguments: Any, **options: Any) -> Any:
            return super().executemany(in_schema(query, schema), *arguments, **options)

        def copy(self, statement: Any, *arguments: Any, **options: Any) -> Any:
            return super().copy(in_schema(statement, schema), *arguments, **options)

        def stream(self, query: Any, *arguments: Any, **options: Any) -> Any:
            return super().stream(in_schema(query, schema), *arguments, **options)

    InSchema.schema = schema
    return InSchema


def async_cursors_in(schema: str) -> type[Any]:
    """Return the same for asynchronous connections."""
    return cursors_in(schema, AsyncCursor)
