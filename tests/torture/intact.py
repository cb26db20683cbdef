"""Whether a database is consistent in itself: each index with its table, each table's pages, each foreign key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import psycopg

# A partial or unique index that misses a row, or has one twice, would answer wrongly without any error.
INDEXES = """
select c.oid::regclass::text, bt_index_parent_check(c.oid, true, true)
from pg_class as c join pg_am as a on a.oid = c.relam join pg_index as i on i.indexrelid = c.oid
where c.relnamespace = 'memory'::regnamespace and a.amname = 'btree' and c.relkind = 'i' and i.indisvalid
"""
PAGES = """
select c.oid::regclass::text, v.blkno, v.msg
from pg_class as c cross join lateral verify_heapam(c.oid) as v
where c.relnamespace in ('memory'::regnamespace, 'pg_toast'::regnamespace) and c.relkind in ('r', 't')
"""
FOREIGN_KEYS = """
select k.conname::text, k.conrelid::regclass::text, k.confrelid::regclass::text,
  array(select a.attname::text from unnest(k.conkey) with ordinality as u (n, place)
        join pg_attribute as a on a.attrelid = k.conrelid and a.attnum = u.n order by u.place),
  array(select a.attname::text from unnest(k.confkey) with ordinality as u (n, place)
        join pg_attribute as a on a.attrelid = k.confrelid and a.attnum = u.n order by u.place)
from pg_constraint as k where k.contype = 'f' and k.connamespace = 'memory'::regnamespace
"""


def problems(connection: psycopg.Connection[Any]) -> Iterator[str]:
    """What PostgreSQL's own checks (extension amcheck) and the foreign keys find, one line each."""
    connection.execute("create extension if not exists amcheck")
    try:
        connection.execute(INDEXES).fetchall()
    except psycopg.Error as error:
        yield f"an index does not fit its table: {error}"
    for table, block, message in connection.execute(PAGES).fetchall():
        yield f"page {block} of {table}: {message}"
    for name, table, other, columns, keys in connection.execute(FOREIGN_KEYS).fetchall():
        match = " and ".join(f"o.{key} = t.{column}" for column, key in zip(columns, keys, strict=True))
        present = " and ".join(f"t.{column} is not null" for column in columns)
        [[orphans]] = connection.execute(
            f"select count(*) from {table} as t where {present} and not exists (select from {other} as o where {match})"
        ).fetchall()
        if orphans:
            yield f"{orphans} rows of {table} break {name}"
