"""Stores memories with embeddings of a model that has embedded them all."""

from __future__ import annotations

import random
from collections.abc import Sequence

import psycopg
from agent_memory import Memory

from bench.search.binary_copy import copy_embeddings
from bench.search.memories import Directions, Texts

MODEL = "embedding"
_INSERTED_AT_ONCE = 1000


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
    for start in range(0, len(stored), _INSERTED_AT_ONCE):
        users, contents = zip(*stored[start : start + _INSERTED_AT_ONCE], strict=True)
        connection.execute(
            "insert into memory.memories (user_id, content) select * from unnest(%s::text[], %s::text[])",
            (list(users), list(contents)),
        )
    memory = Memory(connection)
    dimensions = directions.dimensions
    memory.admin.register_model(MODEL, "embedding", "openai", "text-embedding-3-small", {"dimensions": dimensions})
    # The first embedding job would do this.
    connection.execute("update memory.models set dimensions = %s where name = %s", (dimensions, MODEL))
    memory.admin.activate_model(MODEL)
    ids = connection.execute("select user_id, memory_id::text from memory.memories").fetchall()
    rng.shuffle(ids)
    copy_embeddings(connection, MODEL, ids, directions)
    connection.execute("vacuum analyze")
    connection.execute("checkpoint")
    return stored
