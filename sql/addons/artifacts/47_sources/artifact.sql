-- place among the sources: 5
-- A source of search: the parts of artifacts. id is key/first_byte; memory.search() shows the best part of each.

-- Until when a search may find an artifact.
create or replace function memory._artifact_valid_until(p_quarantined_at timestamptz, p_expires_at timestamptz)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when p_quarantined_at is null then coalesce(p_expires_at, 'infinity') else '-infinity' end;
end;

-- The texts of artifacts that are embedded: the description and the first passage together, each further passage of the
-- first 48 KiB, and the end of a longer content, because a log ends with its errors. So an artifact has at most about
-- twenty embeddings (13,000 tokens). A search finds the middle of a longer content by its words.
create or replace function memory._artifact_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, a.thread_id, p.first_byte::bigint, a.agent_id, a.created_at,
    memory._artifact_valid_until(a.quarantined_at, a.expires_at),
    memory._part_text(a.key, a.description, p.first_byte, p.content),
    case
      when not (memory._is_passage(p.first_byte) or memory._is_last_part(p.first_byte, a.token_count)) then null
      when p.first_byte = 0 then concat_ws(e'\n', a.description, p.content)
      else right(p.content, 3072) end
  from unnest(p_ids) as i (id)
  cross join lateral ( -- "between" and the order leave no other index than that of the key
    select a.* from memory.artifacts as a
    where a.user_id = p_user_id and a.key between memory._part_key(i.id) and memory._part_key(i.id)
    order by a.key limit 1) as a
  cross join lateral (
    select p.first_byte, p.content from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = a.content_id
      and p.first_byte = substring(i.id from '/([0-9]+)$')::int and p.is_parsed offset 0) as p;
end;

-- The parts of artifacts that pass those filters that memory.texts does not know.
create or replace function memory._artifact_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select a.key || '/' || p.first_byte
  from memory.artifacts as a
  join memory.artifact_parts as p on p.user_id = a.user_id and p.content_id = a.content_id
  where a.user_id = p_user_id and p.user_id = p_user_id and a.metadata @> (p_filters).filter;
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

-- Keeps the columns of an artifact that each of its texts repeats, without parsing 200 MB.
create or replace function memory._artifact_texts_after_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  are_due boolean;
begin
  with changed as (
    update memory.texts as t
    set agent_id = new.agent_id, thread_id = new.thread_id, created_at = new.created_at,
        valid_until = memory._artifact_valid_until(new.quarantined_at, new.expires_at)
    where t.user_id = new.user_id and t.source = 'artifact' and t.id = any (array(
      select new.key || '/' || p.first_byte from memory.artifact_parts as p
      where p.user_id = new.user_id and p.content_id = new.content_id))
    returning t.embedding is null and t.hash is not null and t.valid_until > statement_timestamp() as is_due
  )
  select bool_or(c.is_due) into are_due from changed as c;
  if are_due then -- a text that was in quarantine, or had expired, before a job embedded it
    perform memory._enqueue_embedding(new.user_id);
  end if;
  return null;
end;
$$;
