-- place among the sources: 5
-- A source of search: artifacts, found by their content and shown as their placeholder.

create or replace function memory._artifact_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select a.user_id from memory.artifacts as a;
end;

create or replace function memory._artifact_embeddable(
  p_user_id text, p_scope text, p_from_seq bigint, p_to_seq bigint
)
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select a.key, left(concat_ws(e'\n', a.description, left(a.content, 24000)), 24000)
  from memory._current_artifacts(p_user_id) as a
  where coalesce(p_scope, '') = '';
end;

create or replace function memory._artifact_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.artifacts as a
  where a.user_id = p_user_id and a.key = any (p_ids)
  order by a.key for share nowait;
end;
$$;

create or replace function memory._artifact_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'artifact', a.key, a.thread_id, null::bigint, a.created_at, a.search_vector, null::text, null::jsonb
  from memory._current_artifacts(p_user_id) as a
  where 'artifact' = any (p_sources)
    and a.created_at <= coalesce((p_filters).as_of, 'infinity')
    and (p_agent_id is null or a.agent_id = p_agent_id)
    and ((p_filters).filter is null or a.metadata @> (p_filters).filter);
end;

-- Shows the placeholder, because the content may have 10 MiB.
create or replace function memory._artifact_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select a.key, a.thread_id, memory._memory_ref(a.key, a.description, a.token_count), a.metadata, jsonb_build_object(
    'key', a.key, 'description', a.description, 'artifact_type', a.artifact_type, 'token_count', a.token_count,
    'agent_id', a.agent_id), a.created_at
  from memory.artifacts as a
  where a.user_id = p_user_id and a.key = p_id;
end;
