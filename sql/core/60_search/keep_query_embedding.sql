-- needs pgvector on the search_path

-- Keeps the embedding of a query that a client has embedded because the server cannot (see memory.query_to_embed()).
-- The embedding is stored under the model that made it. So a search never compares it with embeddings of another model
-- of the same length, even if another model becomes active meanwhile.
create or replace function memory.keep_query_embedding(
  user_id text, query text, embedding_model jsonb, embedding vector, calls jsonb default null,
  agent_id text default null
)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  asked constant text := memory._query_or_null(query);
  made_by memory.models;
begin
  perform memory._check_id('user_id', user_id), memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if asked is null then
    perform memory._refuse('query', 'must not be empty', 'Pass the text of memory.query_to_embed().');
  elsif embedding is null then
    perform memory._refuse('embedding', 'must not be null', 'Pass the numbers that the model gave.');
  elsif jsonb_typeof(embedding_model -> 'name') is distinct from 'string' then
    perform memory._refuse('embedding_model', 'must be an object with name, provider, model and settings',
      'Pass the model of memory.query_to_embed().');
  end if;
  if calls is not null then
    perform memory._enter_calls(
      user_id, null, 'search', agent_id, embedding_model ->> 'name', calls, 4,
      memory._estimate_tokens(asked) * 4 + 1000);
  end if;
  select m.* into made_by from memory.models as m
  where m.name = embedding_model ->> 'name' and m.kind = 'embedding'
    and memory._model_json(m) = embedding_model;
  if not found
    or memory._dimensions(embedding) > 4000
    or memory._dimensions(embedding) <> memory._known_dimensions(made_by)
    or memory._norm(memory._to_halfvec(embedding)) = 0 then
    return false;
  end if;
  perform memory._keep_query_embedding(user_id, made_by, asked, memory._to_halfvec(embedding));
  return true;
end;
$$;
comment on function memory.keep_query_embedding(text, text, jsonb, vector, jsonb, text) is
'Keeps the embedding that the caller has made of a query with the model that memory.query_to_embed() named; searches '
'and contexts with the same query use it. false: the model is another one by now, or the embedding is not of its '
'length. calls are the model calls that it took, for the ledger.';

-- Stores the embedding of a query and replaces an older embedding of the same query.
create or replace function memory._keep_query_embedding(
  p_user_id text, p_model memory.models, p_query text, p_embedding halfvec
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.query_embeddings (user_id, model, query_hash, embedding)
  values (p_user_id, p_model.name, memory._query_hash(p_model, p_query), p_embedding)
  on conflict on constraint query_embeddings_pkey do update
  set embedding = excluded.embedding, created_at = excluded.created_at;
end;
$$;
