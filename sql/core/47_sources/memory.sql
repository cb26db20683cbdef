-- place among the sources: 1
-- A source of search: long-term memories. docs/search-sources.md says what each function of a source returns.

-- A memory is embedded by its embedding_text, or by its content where embedding_text is blank. Each memory is fetched
-- by its key: a plan made without statistics would read all memories of the user for each one.
create or replace function memory._memory_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, (f.m).thread_id, null::bigint, (f.m).agent_id, (f.m).created_at, memory._valid_until(f.m),
    (f.m).content || coalesce(e'\n' || (f.m).embedding_text, ''),
    left(case when (f.m).embedding_text ~ e'\\S' then (f.m).embedding_text else (f.m).content end, 24000)
  from unnest(p_ids) as i (id)
  cross join lateral (
    select m from memory.memories as m where m.user_id = p_user_id and m.memory_id = i.id::uuid offset 0) as f;
end;

-- The memories that pass those filters that memory.texts does not know, of now or of the time that is asked for.
create or replace function memory._memory_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select m.memory_id::text
  from memory.memories as m
  where m.user_id = p_user_id and memory._is_shown(m, (p_filters).as_of, (p_filters).include_superseded)
    and ((p_filters).memory_types is null or m.memory_type = any ((p_filters).memory_types))
    and ((p_filters).tags_all is null
         or m.tags @> (p_filters).tags_all)
    and ((p_filters).tags_any is null
         or m.tags && (p_filters).tags_any)
    and ((p_filters).exclude_tags is null
         or not m.tags && (p_filters).exclude_tags)
    and ((p_filters).min_confidence is null or m.confidence >= memory._real((p_filters).min_confidence))
    and ((p_filters).filter is null or m.metadata @> (p_filters).filter);
end;

-- The columns of one result.
create or replace function memory._memory_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, m.thread_id, m.content, m.metadata, jsonb_build_object(
    'memory_type', m.memory_type, 'tags', m.tags, 'confidence', m.confidence, 'importance', m.importance,
    'agent_id', m.agent_id, 'superseded_by', m.superseded_by,
    'subject', m.subject, 'attribute', m.attribute, 'state', memory._state(m),
    'valid_to', memory._real_or_null(m.valid_to),
    -- The messages that state the memory, so that an application can show them.
    'source', m.source, 'thread_id', m.thread_id, 'source_seqs', m.source_seqs, 'trust', m.trust),
    memory._real_or_null(m.valid_from)
  from memory.memories as m
  where m.user_id = p_user_id and m.memory_id = p_id::uuid and memory._is_shown(
    m, (p_filters).as_of, coalesce((p_filters).include_superseded, (p_filters).time_asked is not null));
end;

-- Keeps the texts of memories that were added, changed or deleted.
create or replace function memory._memory_texts_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if ({{are copied}}) is not true then
    perform memory._store_texts(g.user_id, 'memory', g.ids)
    from (select c.user_id, array_agg(c.memory_id::text) as ids
          from changed_rows as c group by c.user_id order by 1) as g;
  end if;
  return null;
end;
$$;
