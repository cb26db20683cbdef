"""The tables whose rows belong to users, found in the catalog, and how these rows are copied and compared."""

from __future__ import annotations

from dataclasses import dataclass
from graphlib import TopologicalSorter
from typing import Any

from psycopg import Connection, sql
from psycopg.rows import dict_row

from .registry import INSTEAD, NOT_COPIED

_TABLES = """
select c.relname as name,
  array_agg(a.attname::text order by a.attname) as columns,
  -- Types of extensions have another oid in each database, and a long text form: their binary form is compared.
  array_agg(case when t.oid >= 16384 and t.typtype = 'b' then t.typsend::text end order by a.attname) as sends,
  bool_or(a.attname = 'user_id') as has_users,
  array(select r.relname::text from pg_constraint as f join pg_class as r on r.oid = f.confrelid
        where f.conrelid = c.oid and f.contype = 'f' and f.confrelid <> c.oid) as needs
from pg_class as c
join pg_attribute as a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped and a.attgenerated = ''
join pg_type as t on t.oid = a.atttypid
where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
group by c.oid, c.relname
order by c.relname
"""

Contents = dict[str, tuple[int, str]]
"""For each table that has rows of a user, how many there are and their checksum."""


@dataclass(frozen=True)
class Table:
    """A table whose rows belong to users, and the statements that copy and compare those of one."""

    name: str
    columns: list[str]
    sends: list[str | None]

    @property
    def _of_user(self) -> sql.Composed:
        return sql.SQL(" from {} where user_id = ").format(sql.Identifier("memory", self.name))

    def _values(self, *, for_comparison: bool) -> sql.Composed:
        instead = INSTEAD.get(self.name, {})
        values = []
        for column, send in zip(self.columns, self.sends, strict=True):
            value: sql.Composable = sql.SQL(instead[column]) if column in instead else sql.Identifier(column)
            if for_comparison and send is not None:
                value = sql.SQL("{}({})").format(sql.SQL(send), value)
            values.append(value)
        return sql.SQL(", ").join(values)

    def copy_out(self, user_id: str) -> sql.Composed:
        """Return the statement that sends the rows of a user."""
        select = sql.SQL("select {}").format(self._values(for_comparison=False)) + self._of_user + sql.Literal(user_id)
        return sql.SQL("copy ({}) to stdout (format binary)").format(select)

    def copy_in(self) -> sql.Composed:
        """Return the statement that takes them."""
        columns = sql.SQL(", ").join(map(sql.Identifier, self.columns))
        return sql.SQL("copy {} ({}) from stdin (format binary)").format(sql.Identifier("memory", self.name), columns)

    def contents(self) -> sql.Composed:
        """The query that counts and sums up the rows of a user, in whatever order they are."""
        digest = sql.SQL("select {}, count(*), coalesce(sum(hashtextextended(row({})::text, 0)), 0)::text").format(
            self.name, self._values(for_comparison=True)
        )
        return digest + self._of_user + sql.SQL("%(user_id)s having count(*) > 0")

    def exists(self) -> sql.Composed:
        """Return the condition that the table has rows of a user."""
        return sql.SQL("exists (select") + self._of_user + sql.SQL("%(user_id)s)")


class Side:
    """One of the two databases, and its tables, those that others refer to first."""

    def __init__(self, connection: Connection[Any]) -> None:
        self.connection = connection
        rows = {row["name"]: row for row in connection.cursor(row_factory=dict_row).execute(_TABLES)}
        needs = {name: row["needs"] for name, row in rows.items()}
        self.tables = [
            Table(name, rows[name]["columns"], rows[name]["sends"])
            for name in TopologicalSorter(needs).static_order()
            if rows[name]["has_users"] and name not in NOT_COPIED
        ]
        self._contents = sql.SQL(" union all ").join(table.contents() for table in self.tables)
        self._exists = sql.SQL("select ") + sql.SQL(" or ").join(table.exists() for table in self.tables)

    def has_user(self, user_id: str) -> bool:
        """Whether any table has a row of the user."""
        return self.connection.execute(self._exists, {"user_id": user_id}).fetchone() == (True,)

    def forgotten_at(self, user_id: str) -> float:
        """When something of the user was forgotten last, in seconds since 1970; 0 for never."""
        [[moment]] = self.connection.execute(
            "select extract(epoch from coalesce(max(t.forgotten_at), to_timestamp(0)))::double precision"
            " from memory.erasure_keys as k"
            " join memory.tombstones as t on t.user_hash = memory._keyed_hash(k, %s)",
            [user_id],
        )
        return float(moment)

    def contents(self, user_id: str) -> Contents:
        """Count and sum up the rows of a user, all at one moment."""
        rows = self.connection.execute(self._contents, {"user_id": user_id})
        return {name: (number, checksum) for name, number, checksum in rows}

    def users(self) -> list[str]:
        """Return the ids of all users."""
        each = sql.SQL(" union ").join(
            sql.SQL("select user_id from {}").format(sql.Identifier("memory", table.name)) for table in self.tables
        )
        query = sql.SQL("select user_id from ({}) as u where user_id <> '' order by 1").format(each)
        return [user_id for [user_id] in self.connection.execute(query)]
