"""Stores memories with embeddings, which are copied in the binary format: that is ten times as fast as text."""

from __future__ import annotations

import random
import struct
from collections.abc import Sequence

import psycopg
from agent_memory import Memory

from bench.search.memories import Directions, Texts

MODEL = "embedding"
_BLOCK = 1000
_HEADER = b"PGCOPY\n\xff\r\n\0" + struct.pack("!ii", 0, 0)
_END = struct.pack("!h", -1)
_STORE = """
update memory.texts as t
set model = %(model)s, embedding = d.embedding,
  code = case t.source when 'message' then memory._code(d.embedding) end
from drawn as d where t.user_id = d.user_id and t.source = %(source)s and t.id = d.id
"""


def store(
    connection: psycopg.Connection,
    owners: Sequence[str],
    sentences: Texts,
    directions: Directions,
    rng: random.Random,
) -> list[tuple[str, str]]:
    """Stores a memory for each of the owners, who are users; returns users and texts."""
    # Users write at the same time, so the rows of each are all over the tables.
    stored = [(user, sentences.sentence()) for user in rng.sample(owners, len(owners))]
    for start in range(0, len(stored), _BLOCK):
        users, contents = zip(*stored[start : start + _BLOCK], strict=True)
        connection.execute(
            "insert into memory.memories (user_id, content) select * from unnest(%s::text[], %s::text[])",
            (list(users), list(contents)),
        )
    ids = connection.execute("select user_id, memory_id::text from memory.memories").fetchall()
    rng.shuffle(ids)
    embed(connection, "memory", ids, directions)
    return stored


def embed(connection: psycopg.Connection, source: str, ids: Sequence[tuple[str, str]], directions: Directions) -> None:
    """Stores an embedding for each of these users and ids, by a model that is in use from then on."""
    admin, dimensions = Memory(connection).admin, directions.dimensions
    admin.register_model(MODEL, "embedding", "openai", "text-embedding-3-small", {"dimensions": dimensions})
    # The first embedding job would do this.
    connection.execute("update memory.models set dimensions = %s where name = %s", (dimensions, MODEL))
    admin.activate_model(MODEL)
    connection.execute("create temporary table drawn (user_id text, id text, embedding halfvec)")
    statement = "copy drawn (user_id, id, embedding) from stdin (format binary)"
    with connection.cursor() as cursor, cursor.copy(statement) as copy:
        copy.write(_HEADER)
        for start in range(0, len(ids), _BLOCK):
            block = ids[start : start + _BLOCK]
            shape = struct.pack("!hh", dimensions, 0)
            for (user, name), vector in zip(block, directions.draw(len(block)).astype(">f2"), strict=True):
                fields = (user.encode(), name.encode(), shape + vector.tobytes())
                copy.write(struct.pack("!h", 3) + b"".join(struct.pack("!i", len(each)) + each for each in fields))
        copy.write(_END)
    connection.execute("analyze drawn")
    connection.execute(_STORE, {"model": MODEL, "source": source})
    connection.execute("drop table drawn")
    connection.execute("vacuum analyze")
    connection.execute("checkpoint")
