-- place among the sources: 5
-- A source of search: the parts of artifacts. id is key/first_byte; memory.search() shows the best part of each.

create or replace function memory._artifact_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select a.user_id from memory.artifacts as a;
end;

-- The texts of artifacts to embed: the description and the first passage together, each further passage of the first 48
-- KiB, and the end of a longer content, because a log ends with its errors. So an artifact has at most about twenty
-- embeddings (13,000 tokens). A search finds the middle of a longer content by its words.
create or replace function memory._artifact_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select a.key || '/' || p.first_byte
  from memory._current_artifacts(p_user_id) as a
  join memory.artifact_parts as p on p.user_id = a.user_id and p.content_id = a.content_id
  where coalesce(p_scope, '') = '' and p.user_id = p_user_id
    and (memory._is_passage(p.first_byte) or memory._is_last_part(p.first_byte, a.token_count));
end;

create or replace function memory._artifact_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id, t.text
  from unnest(p_sources, p_ids) as k (source, id)
  cross join lateral (
    select case p.first_byte when 0 then concat_ws(e'\n', a.description, p.content) else right(p.content, 3072) end
      as text
    from memory._current_artifacts(p_user_id) as a
    join memory.artifact_parts as p on p.user_id = a.user_id and p.content_id = a.content_id
    where a.key = memory._part_key(k.id) and p.first_byte = substring(k.id from '/([0-9]+)$')::int
      and (memory._is_passage(p.first_byte) or memory._is_last_part(p.first_byte, a.token_count)) offset 0) as t
  where k.source = 'artifact';
end;

create or replace function memory._artifact_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.artifacts as a
  where a.user_id = p_user_id and a.key = any (array(select memory._part_key(i) from unnest(p_ids) as i))
  order by a.key for share nowait;
end;
$$;

-- The parts of artifacts for a search. A search finds each part for itself, and memory.search() shows the best part of
-- an artifact. If the search compares words, parts that are not parsed yet come with their text, so that
-- memory._ranked() can parse them. These are the first 64 KiB of an artifact and its end, because a search parses half
-- a MiB in all.
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
  select 'artifact', a.key || '/' || p.first_byte, a.thread_id, p.first_byte::bigint, a.created_at, p.search_vector,
    case
      when p.search_vector is null and p_compares_words
        and (p.first_byte < 65536 or memory._is_last_part(p.first_byte, a.token_count))
        then memory._part_text(a.key, a.description, p.first_byte, p.content)
    end,
    null::jsonb
  from memory._current_artifacts(p_user_id) as a
  join memory.artifact_parts as p on p.user_id = a.user_id and p.content_id = a.content_id
  where 'artifact' = any (p_sources)
    and p.user_id = p_user_id
    and a.created_at <= coalesce((p_filters).as_of, 'infinity')
    and (p_agent_id is null or a.agent_id = p_agent_id)
    and ((p_filters).filter is null or a.metadata @> (p_filters).filter);
end;

-- The columns of one result: the placeholder and, below it, the passage of the part that says most about the query.
-- Without a query in words the passage is the embedded text of the part: the whole part, or the end of the content.
-- from_line is the line in which the passage begins.
create or replace function memory._artifact_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select a.key, a.thread_id,
    memory._memory_ref(a.key, a.description, a.token_count) || e'\n' || s.passage, a.metadata,
    jsonb_build_object(
      'key', a.key, 'description', a.description, 'artifact_type', a.artifact_type, 'token_count', a.token_count,
      'agent_id', a.agent_id,
      'from_line', p.first_line + 1 + memory._line_breaks(left(p.content, strpos(p.content, s.passage) - 1))),
    a.created_at
  from memory.artifacts as a
  join memory.artifact_parts as p
    on p.user_id = a.user_id and p.content_id = a.content_id and p.first_byte = p_number
  cross join lateral memory._policy(p_user_id, a.agent_id) as y (policy)
  cross join lateral memory._passage(
    (y.policy #>> '{search,language}')::regconfig,
    case when p_query is null then right(p.content, 3072) else p.content end, p_query,
    (y.policy #>> '{knowledge_base,chunk_size}')::int) as s (passage)
  where a.user_id = p_user_id and a.key = memory._part_key(p_id) and p.user_id = p_user_id
    and not memory._is_held_back_artifact(
      p_user_id, a.key, int4multirange(int4range(p_number::int, p_number::int + 1)));
end;
