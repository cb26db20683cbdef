-- needs pgvector on the search_path

-- Where embeddings are. That of the active model stands in memory.texts, where a search reads it; those of other models
-- stand in memory.embeddings. After another model became active, jobs and memory.sweep() exchange the two text by text,
-- and readers look in both places.

-- The embeddings of a user by one model.
create or replace function memory._embeddings_of(p_user_id text, p_model text)
returns table (source text, id text, embedding halfvec)
language sql stable parallel safe
begin atomic
  select t.source, t.id, t.embedding from memory.texts as t where t.user_id = p_user_id and t.model = p_model
  union all
  select e.source, e.id, e.embedding from memory.embeddings as e where e.user_id = p_user_id and e.model = p_model;
end;

-- Stores embeddings of texts that still have these hashes. Returns the sources and ids that had none of this model.
create or replace function memory._keep_embeddings(
  p_user_id text, p_model memory.models, p_sources text[], p_ids text[], p_hashes uuid[], p_embeddings halfvec[],
  out sources text[], out ids text[]
)
language plpgsql volatile parallel unsafe
as $$
begin
  with given as materialized (
    select g.* from unnest(p_sources, p_ids, p_hashes, p_embeddings) as g (source, id, hash, embedding)
    cross join lateral (
      select from memory.texts as t
      where t.user_id = p_user_id and t.source = g.source and t.id = g.id and t.hash = g.hash
        and t.valid_until > '-infinity' and t.model is distinct from p_model.name
      for no key update nowait) as t -- whoever holds one may wait for the job, which hands its result in again
  ), behind as (
    insert into memory.embeddings (user_id, source, id, model, hash, embedding)
    select p_user_id, g.source, g.id, p_model.name, g.hash, g.embedding from given as g
    where not p_model.is_active order by g.source, g.id
    on conflict on constraint embeddings_pkey do nothing
    returning source, id
  ), kept as ( -- the embedding that was there before is of another model, which may become active again
    insert into memory.embeddings (user_id, source, id, model, hash, embedding)
    select t.user_id, t.source, t.id, t.model, t.hash, t.embedding
    from given as g
    cross join lateral (
      select t.* from memory.texts as t
      where t.user_id = p_user_id and t.source = g.source and t.id = g.id offset 0) as t
    where p_model.is_active and t.model is not null
    order by t.source, t.id
    on conflict on constraint embeddings_pkey do nothing
  ), changed as (
    update memory.texts as t
    set model = p_model.name, embedding = g.embedding,
        code = case t.source when 'message' then memory._code(g.embedding) end
    from given as g
    where p_model.is_active and t.user_id = p_user_id and t.source = g.source and t.id = g.id
    returning t.source, t.id
  )
  select array_agg(d.source), array_agg(d.id) into sources, ids
  from (select b.source, b.id from behind as b union all select c.source, c.id from changed as c) as d;
end;
$$;

-- Moves embeddings of the active model from memory.embeddings to memory.texts: at most p_row_limit, of one user or of
-- all (p_user_id null). Returns how many.
create or replace function memory._serve_active_model(p_user_id text, p_row_limit int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  active constant memory.models := memory._embedding_model();
  moved bigint := 0;
  of_user record;
begin
  for of_user in
    select b.user_id, array_agg(b.source) as sources, array_agg(b.id) as ids, array_agg(b.hash) as hashes,
      array_agg(b.embedding) as embeddings
    from (
      select e.* from memory.embeddings as e
      where e.model = active.name and (p_user_id is null or e.user_id = p_user_id)
        and exists ( -- a hidden text keeps its embedding here, in case it comes back
          select from memory.texts as t
          where t.user_id = e.user_id and t.source = e.source and t.id = e.id and t.valid_until > '-infinity')
      order by e.user_id, e.source, e.id limit p_row_limit for update skip locked) as b
    group by b.user_id
    order by b.user_id
  loop
    perform memory._keep_embeddings(
      of_user.user_id, active, of_user.sources, of_user.ids, of_user.hashes, of_user.embeddings);
    delete from memory.embeddings as e
    using unnest(of_user.sources, of_user.ids) as d (source, id)
    where e.user_id = of_user.user_id and e.model = active.name and e.source = d.source and e.id = d.id;
    moved := moved + cardinality(of_user.ids);
  end loop;
  return moved;
end;
$$;

-- Queues the embedding of the texts of a user that have none, if an embedding model is active: of the messages of a
-- thread (p_scope), or of the other texts.
create or replace function memory._enqueue_embedding(p_user_id text, p_scope text default '')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(p_user_id, 'embed', p_scope);
  end if;
end;
$$;
