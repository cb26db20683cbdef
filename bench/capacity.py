"""Measures the bytes that rows take on disk, for docs/capacity.md: ``python -m bench.capacity``."""

from __future__ import annotations

import argparse
import random
from typing import Any

import psycopg
from psycopg.types.json import Jsonb

from bench.support.environment import new_database
from bench.support.markdown import table
from bench.support.texts import FREQUENCIES, WORDS
from tests.support.servers import running_server

HEADER = ["a row", "table", "indexes", "moved out", "together"]
SIZES = """
select pg_relation_size(c.oid), pg_indexes_size(c.oid),
  coalesce(pg_relation_size(c.reltoastrelid) + pg_indexes_size(c.reltoastrelid), 0)
from pg_class as c where c.oid = any (%s::regclass[])
"""
# A hundred embeddings, each of them many times: PostgreSQL does not compress one, and never compares two.
EMBEDDED = """
with drawn as materialized (
  select mod(place, 100) as n, array_agg(random() - 0.5)::real[]::halfvec as embedding
  from generate_series(1, 100 * %(dims)s) as place
  group by 1
), numbered as (
  select user_id, source, id, mod(row_number() over (), 100) as n from memory.texts where source = %(source)s
)
update memory.texts as t
set model = %(model)s, embedding = d.embedding,
  code = case t.source when 'message' then memory._code(d.embedding) end
from numbered as n join drawn as d using (n)
where t.user_id = n.user_id and t.source = n.source and t.id = n.id
"""


def texts(chance: random.Random, count: int, words: int) -> list[str]:
    """Texts of made-up words, with the frequencies of a language and about so many words each."""
    drawn = iter(chance.choices(WORDS, FREQUENCIES, k=count * (words + 8)))
    return [" ".join(next(drawn) for _ in range(chance.randint(words - 7, words + 7))) for _ in range(count)]


def sizes(connection: psycopg.Connection, *tables: str) -> list[int]:
    """Bytes of the tables, of their indexes, and of values that are stored apart."""
    for name in tables:
        connection.execute(f"vacuum analyze {name}".encode())
    rows = connection.execute(SIZES, [list(tables)]).fetchall()
    return [sum(column) for column in zip(*rows, strict=True)]


def row(name: str, count: int, after: list[int], before: list[int]) -> list[str]:
    """A row of the table: bytes of one of these rows."""
    bytes_each = [(new - old) / count for new, old in zip(after, before, strict=True)]
    return [name, *(f"{size:,.0f}" for size in [*bytes_each, sum(bytes_each)])]


def measure(connection: psycopg.Connection, count: int) -> list[list[str]]:
    """Store so many messages and memories, with embeddings, and return the bytes of each."""
    chance, rows = random.Random(1), []
    conversation = ("memory.messages", "memory.threads", "memory.texts")
    before = sizes(connection, *conversation)
    for number, start in enumerate(range(0, count, 100)):
        said: list[dict[str, Any]] = [
            {"role": ("user", "assistant")[place % 2], "content": text}
            for place, text in enumerate(texts(chance, min(100, count - start), 17))
        ]
        connection.execute(
            "select count(*) from memory.add_messages(%s, %s, %s)",
            [f"user {number % 500}", f"thread {number}", Jsonb(said)],
        )
    rows.append(row("a message of 17 words, just stored", count, sizes(connection, *conversation), before))
    while connection.execute("select (memory.sweep(100000) ->> 'checked')::int").fetchone() != (0,):
        pass
    rows.append(row("the same, parsed for search", count, sizes(connection, *conversation), before))

    remembered = ("memory.memories", "memory.memory_scopes", "memory.texts")
    before = sizes(connection, *remembered)
    for number, start in enumerate(range(0, count, 200)):
        connection.execute(
            "insert into memory.memories (user_id, content) select %s, t || ' ' || n"
            " from unnest(%s::text[]) with ordinality as u (t, n)",
            [f"user {number}", texts(chance, min(200, count - start), 12)],
        )
    rows.append(row("a memory of 12 words", count, sizes(connection, *remembered), before))

    for dims in (384, 1536):
        connection.execute(
            "insert into memory.models (name, kind, provider, model, dimensions)"
            " values (%s, 'embedding', 'openai', 'm', %s)",
            [f"m{dims}", dims],
        )
        for source in ("memory", "message"):
            connection.execute("update memory.texts set model = null, embedding = null, code = null")
            connection.execute("vacuum full memory.texts")
            before = sizes(connection, "memory.texts")
            connection.execute(EMBEDDED, {"model": f"m{dims}", "dims": dims, "source": source})
            connection.execute("vacuum full memory.texts")
            after = sizes(connection, "memory.texts")
            rows.append(row(f"the embedding of a {source}, {dims:,} dimensions", count, after, before))
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=100_000, help="of each kind (100,000)")
    options = parser.parse_args()
    with running_server("system") as server, new_database(server, "sizes") as connection:
        print(table(HEADER, measure(connection, options.rows)))


if __name__ == "__main__":
    main()
