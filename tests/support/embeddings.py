"""Embeddings stored as a job stores them, without a model."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from tests.support.sqlapi import Api

READ = """
  select memory._store_texts(%(user_id)s, %(source)s, %(ids)s::text[])
"""
KEEP = """
  with given as (
    select t.user_id, t.source, t.id, coalesce(t.hash, md5(t.id)::uuid) as hash,
      g.embedding::vector::halfvec as embedding
    from unnest(%(ids)s::text[], %(embeddings)s::text[]) as g (id, embedding)
    join memory.texts as t on t.user_id = %(user_id)s and t.source = %(source)s and t.id = g.id
  ), behind as (
    insert into memory.embeddings (user_id, source, id, model, hash, embedding)
    select g.user_id, g.source, g.id, m.name, g.hash, g.embedding
    from given as g join memory.models as m on m.name = %(model)s and not m.is_active
  )
  update memory.texts as t
  set model = m.name, embedding = g.embedding, code = case t.source when 'message' then memory._code(g.embedding) end
  from given as g join memory.models as m on m.name = %(model)s and m.is_active
  where t.user_id = g.user_id and t.source = g.source and t.id = g.id
  returning 1
"""
EMBEDDINGS = """
  (select user_id, source, id, model, embedding, code from memory.texts where model is not null
   union all select user_id, source, id, model, embedding, null from memory.embeddings)
"""
"""All embeddings, wherever they stand."""


def embed(
    api: Api, source: str, vectors: Iterable[tuple[Any, Any]], user_id: str = "ana", model: str = "three"
) -> None:
    """Store embeddings of texts of one source, by their ids; a message that no job has read is read."""
    pairs = [(str(row_id), str(vector)) for row_id, vector in vectors]
    given = {"user_id": user_id, "source": source, "ids": [row_id for row_id, _ in pairs], "model": model}
    unread = "select i from unnest(%(ids)s::text[]) as i where not memory._is_parsed(%(user_id)s, %(source)s, i)"
    missing = [row[0] for row in api.query(unread, **given)]
    if missing:
        api.query(READ, **{**given, "ids": missing})
    api.query(KEEP, **given, embeddings=[vector for _, vector in pairs])


def embed_texts(api: Api, vectors: str, model: str, **parameters: Any) -> None:
    """Store embeddings by the active model, after all messages are read; the query returns source, id and vector."""
    while api.value("select memory._finish_unread_messages(100000)"):
        pass
    update = f"""
        update memory.texts as t
        set model = %(model)s, embedding = v.vector::halfvec,
          code = case t.source when 'message' then memory._code(v.vector::halfvec) end
        from ({vectors}) as v (source, id, vector)
        where t.user_id = %(user_id)s and t.source = v.source and t.id = v.id
        returning 1
    """
    with api.connection.transaction():
        api.query("select set_config('enable_nestloop', 'off', true)")  # without statistics it would take all pairs
        api.query(update, model=model, **parameters)
        api.query("select set_config('enable_nestloop', 'on', true)")
