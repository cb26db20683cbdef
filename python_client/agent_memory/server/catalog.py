"""The public functions as the catalog of the database describes them."""

from __future__ import annotations

from dataclasses import dataclass

import psycopg
from psycopg.rows import dict_row

from ..calls import translated
from ..errors import connecting, not_installed
from ..schema import SCHEMA, cursors_in

# Without the functions of checkpoints, whose values only the application that serialised them may load.
_FUNCTIONS = """
select p.proname as name, obj_description(p.oid, 'pg_proc') as comment, a.arguments
from pg_proc as p
cross join lateral (
  select coalesce(jsonb_agg(jsonb_build_object(
    'name', p.proargnames[a.position], 'type', format_type(a.type, null),
    'is_optional', a.position > p.pronargs - p.pronargdefaults) order by a.position), '[]') as arguments
  from unnest(p.proargtypes) with ordinality as a (type, position)) as a
where p.pronamespace = to_regnamespace('memory') and not starts_with(p.proname, '_')
  and p.prorettype <> 'trigger'::regtype and p.proname !~ 'checkpoint'
order by p.proname
"""


@dataclass(frozen=True)
class Argument:
    """An argument of a function.

    Attributes:
        name: its name.
        type: its type as PostgreSQL writes it, such as ``timestamp with time zone``.
        is_optional: whether it may be left out.
    """

    name: str
    type: str
    is_optional: bool


@dataclass(frozen=True)
class Function:
    """A public function of schema ``memory``.

    Attributes:
        name: its name.
        comment: what it does.
        arguments: its arguments in order.
    """

    name: str
    comment: str
    arguments: tuple[Argument, ...]

    @property
    def is_of_user(self) -> bool:
        """Whether a call is about the data of one user."""
        return bool(self.arguments) and self.arguments[0].name == "user_id"


def read_catalog(conninfo: str, schema: str = SCHEMA) -> list[Function]:
    """Read the public functions of a database."""
    with connecting(conninfo):
        opened = psycopg.connect(
            conninfo, autocommit=True, application_name="agent-memory serve", cursor_factory=cursors_in(schema)
        )
    with opened as connection, translated(connection), connection.cursor(row_factory=dict_row) as cursor:
        rows = cursor.execute(_FUNCTIONS).fetchall()
        if not rows:
            raise not_installed("", connection.info, "", schema)
    return [
        Function(row["name"], row["comment"] or "", tuple(Argument(**argument) for argument in row["arguments"]))
        for row in rows
    ]
