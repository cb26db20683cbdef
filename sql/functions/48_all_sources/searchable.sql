-- What a search may see, before any of it is ranked: every filter is here, so none can be applied after a limit. number
-- is the seq of a message and the number of a document's piece. unfiltered says that no filter but agent_id is set:
-- that is one test per row instead of up to ten, which are half of the time of a search. Where words are compared, a
-- message whose words nobody has kept yet comes with its content and metadata, for memory._ranked() to parse. Inlined
-- by the planner, hence no SET clause.
create or replace function memory._searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_thread_id text, p_exclude_thread_id text, p_memory_types text[], p_tags_all text[], p_tags_any text[],
  p_exclude_tags text[], p_filter jsonb, p_min_confidence double precision, p_created_after timestamptz, p_created_before timestamptz, p_as_of timestamptz,
  p_include_superseded boolean, p_doc_types text[], p_namespaces text[], p_unfiltered boolean, p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
    metadata jsonb
)
language sql stable parallel safe
begin atomic
  select t.* from (
    -- Without filters, memories are read from memories_recent_idx alone, so no column that it lacks may stand here; then those
    -- whose words are too long for it; with filters, all from the table.
    select 'memory', m.memory_id::text, null, null::bigint, m.created_at, m.search_vector, null::text, null::jsonb
    from memory._valid_memories(p_user_id, p_agent_id) as m
    where p_unfiltered and 'memory' = any (p_sources) and m.search_vector is not null
    union all
    select 'memory', m.memory_id::text, null, null, m.created_at, m.long_search_vector, null, null
    from memory._valid_memories(p_user_id, p_agent_id) as m
    where p_unfiltered and 'memory' = any (p_sources) and m.long_search_vector is not null
    union all
    select 'memory', m.memory_id::text, m.thread_id, null, m.created_at, coalesce(m.search_vector,
      m.long_search_vector), null, null
    from memory._shown_memories(p_user_id, p_as_of, p_include_superseded) as m
    where not p_unfiltered and 'memory' = any (p_sources) and coalesce(p_doc_types, p_namespaces) is null
      and (p_agent_id is null or m.agent_id = p_agent_id)
      and (p_memory_types is null or m.memory_type = any (p_memory_types))
      and (p_tags_all is null or memory._comparable_tags(m.tags,
        p_tags_all) @> p_tags_all)
      and (p_tags_any is null or memory._comparable_tags(m.tags,
        p_tags_any) && p_tags_any)
      and (p_exclude_tags is null or not memory._comparable_tags(m.tags,
        p_exclude_tags) && p_exclude_tags)
      and (p_min_confidence is null or m.confidence >= memory._real(p_min_confidence))
      and (p_filter is null or m.metadata @> p_filter)
    union all
    select 'summary', s.summary_id::text, nullif(s.thread_id, ''), null, s.created_at, s.search_vector, null, null
    from memory._current_summaries(p_user_id, p_as_of) as s
    where 'summary' = any (p_sources) and coalesce(p_doc_types, p_namespaces) is null
      and coalesce(p_memory_types, p_tags_all, p_tags_any) is null and p_min_confidence is null
      and (p_agent_id is null or s.agent_ids <@ array[p_agent_id])
      and (p_filter is null or s.metadata @> p_filter)
    union all
    select 'document', d.document_id || '/' || c.number, d.thread_id, c.number, d.created_at, c.search_vector, null,
      null
    from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
    where 'document' = any (p_sources) and d.user_id = p_user_id and c.user_id = p_user_id
      and coalesce(p_memory_types, p_tags_all, p_tags_any) is null and p_min_confidence is null
      and d.created_at <= coalesce(p_as_of, 'infinity')
      and (p_agent_id is null or d.agent_ids <@ array[p_agent_id])
      and (p_doc_types is null or d.doc_type = any (p_doc_types))
      and (p_namespaces is null or d.namespace = any (p_namespaces))
      and (p_filter is null or d.metadata @> p_filter)
    union all
    select 'message', m.thread_id || '/' || m.seq, m.thread_id, m.seq, m.created_at, m.search_vector,
      case when m.search_vector is null and p_compares_words then m.content end,
      case when m.search_vector is null and p_compares_words then m.metadata end
    from memory.messages as m
    where 'message' = any (p_sources) and m.user_id = p_user_id and m.is_active and m.expires_at > statement_timestamp()
      and coalesce(p_memory_types, p_tags_all, p_tags_any, p_doc_types, p_namespaces) is null
      and p_min_confidence is null
      and (p_agent_id is null or m.agent_id = p_agent_id)
      and (p_unfiltered or (
        m.created_at <= coalesce(p_as_of, 'infinity')
        and (p_filter is null or m.metadata @> p_filter)))
    union all
    select 'artifact', a.key, a.thread_id, null, a.created_at, a.search_vector, null, null
    from memory._current_artifacts(p_user_id) as a
    where 'artifact' = any (p_sources)
      and coalesce(p_memory_types, p_tags_all, p_tags_any, p_doc_types, p_namespaces) is null
      and p_min_confidence is null and a.created_at <= coalesce(p_as_of, 'infinity')
      and (p_agent_id is null or a.agent_id = p_agent_id)
      and (p_filter is null or a.metadata @> p_filter)
  ) as t (source, id, thread_id, number, created_at, vector, content, metadata)
  where p_unfiltered or (
    (p_thread_id is null or t.thread_id = p_thread_id)
    and (p_exclude_thread_id is null or t.thread_id is distinct from p_exclude_thread_id)
    and (p_created_after is null or t.created_at > p_created_after)
    and (p_created_before is null or t.created_at < p_created_before));
end;
