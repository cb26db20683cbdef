-- place among the sources: 1
-- A source of search: long-term memories. docs/search-sources.md says what each function of a source returns.

-- Users who have a memory that is neither superseded nor deleted.
create or replace function memory._memory_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select s.user_id from memory.memory_scopes as s where s.memory_count > 0;
end;

create or replace function memory._memory_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select m.memory_id::text from memory._visible_memories(p_user_id, null, false) as m where coalesce(p_scope, '') = '';
end;

-- A memory is embedded by its embedding_text, or by its content where embedding_text is blank. Each memory is fetched
-- by its key before it is judged: a plan made without statistics would read all memories of the user for each one.
create or replace function memory._memory_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id,
    left(case when (f.m).embedding_text ~ e'\\S' then (f.m).embedding_text else (f.m).content end, 24000)
  from unnest(p_sources, p_ids) as k (source, id)
  cross join lateral (
    select m from memory.memories as m where m.user_id = p_user_id and m.memory_id = k.id::uuid offset 0) as f
  where k.source = 'memory' and memory._is_current(f.m)
    and memory._is_unexpired((f.m).expires_at);
end;

-- Locks memories while their embeddings are stored, because an UPDATE by hand locks no counter of an agent and would
-- not see the embedding that it must drop.
create or replace function memory._memory_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform
  from (select i::uuid as id from unnest(p_ids) as i order by 1) as k
  cross join lateral (
    select from memory.memories as m where m.user_id = p_user_id and m.memory_id = k.id for share nowait) as locked;
end;
$$;

-- The memories for a search. A search without filters runs the first two branches, a search with filters the third. The
-- first branch reads memories from memories_recent_idx alone, so it must not name a column that the index lacks. The
-- second branch adds the memories whose words are too long for the index. The third branch reads all memories from the
-- table.
create or replace function memory._memory_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'memory', m.memory_id::text, null::text, null::bigint, m.created_at, m.search_vector, null::text, null::jsonb
  from memory._valid_memories(p_user_id, p_agent_id) as m
  where 'memory' = any (p_sources) and p_unfiltered and m.search_vector is not null
  union all
  select 'memory', m.memory_id::text, null, null, m.created_at, m.long_search_vector, null, null
  from memory._valid_memories(p_user_id, p_agent_id) as m
  where 'memory' = any (p_sources) and p_unfiltered and m.long_search_vector is not null
  union all
  select 'memory', m.memory_id::text, m.thread_id, null, m.created_at,
    coalesce(m.search_vector, m.long_search_vector), null, null
  from memory._shown_memories(p_user_id, (p_filters).as_of, (p_filters).include_superseded) as m
  where 'memory' = any (p_sources) and not p_unfiltered
    and (p_agent_id is null or m.agent_id = p_agent_id)
    and ((p_filters).memory_types is null or m.memory_type = any ((p_filters).memory_types))
    and ((p_filters).tags_all is null
         or memory._comparable_tags(m.tags, (p_filters).tags_all) @> (p_filters).tags_all)
    and ((p_filters).tags_any is null
         or memory._comparable_tags(m.tags, (p_filters).tags_any) && (p_filters).tags_any)
    and ((p_filters).exclude_tags is null
         or not memory._comparable_tags(m.tags, (p_filters).exclude_tags) && (p_filters).exclude_tags)
    and ((p_filters).min_confidence is null or m.confidence >= memory._real((p_filters).min_confidence))
    and ((p_filters).filter is null or m.metadata @> (p_filters).filter);
end;

-- The columns of one result. This function reads the thread from the table, because memories_recent_idx lacks it. The
-- function returns no row for a hidden memory whose embedding does not say so yet: a change of the memory under
-- repeatable read does not see an embedding that another session stores meanwhile.
create or replace function memory._memory_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select p_id, m.thread_id, m.content, m.metadata, jsonb_build_object(
    'memory_type', m.memory_type, 'tags', m.tags, 'confidence', m.confidence, 'importance', m.importance,
    'agent_id', m.agent_id, 'superseded_by', m.superseded_by,
    -- The messages that state the memory, so that an application can show them.
    'source', m.source, 'thread_id', m.thread_id, 'source_seqs', m.source_seqs, 'trust', m.trust),
    memory._real_or_null(m.valid_from)
  from memory._shown_memories(p_user_id, (p_filters).as_of, (p_filters).include_superseded) as m
  where m.memory_id = p_id::uuid;
end;
