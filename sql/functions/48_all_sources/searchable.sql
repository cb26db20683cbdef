-- What a search may see, before any of it is ranked: every filter is here, so none can be applied after a limit. number
-- is the seq of a message and the number of a document's piece. unfiltered says that no filter but agent_id is set:
-- that is one test per row instead of up to ten, which are half of the time of a search. Where words are compared, a
-- message whose words nobody has kept yet comes with its content and metadata, for memory._ranked() to parse. Inlined
-- by the planner, hence no SET clause.
create or replace function memory._searchable(
  user_id text, sources text[], agent_id text, thread_id text, exclude_thread_id text, memory_types text[], tags_all text[], tags_any text[],
  exclude_tags text[], filter jsonb, min_confidence double precision, created_after timestamptz, created_before timestamptz, as_of timestamptz,
  include_superseded boolean, doc_types text[], namespaces text[], unfiltered boolean, compares_words boolean
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
    from memory._valid_memories(_searchable.user_id, _searchable.agent_id) as m
    where _searchable.unfiltered and 'memory' = any (_searchable.sources) and m.search_vector is not null
    union all
    select 'memory', m.memory_id::text, null, null, m.created_at, m.long_search_vector, null, null
    from memory._valid_memories(_searchable.user_id, _searchable.agent_id) as m
    where _searchable.unfiltered and 'memory' = any (_searchable.sources) and m.long_search_vector is not null
    union all
    select 'memory', m.memory_id::text, m.thread_id, null, m.created_at, coalesce(m.search_vector,
      m.long_search_vector), null, null
    from memory._shown_memories(_searchable.user_id, _searchable.as_of, _searchable.include_superseded) as m
    where not _searchable.unfiltered and 'memory' = any (_searchable.sources) and coalesce(_searchable.doc_types, _searchable.namespaces) is null
      and (_searchable.agent_id is null or m.agent_id = _searchable.agent_id)
      and (_searchable.memory_types is null or m.memory_type = any (_searchable.memory_types))
      and (_searchable.tags_all is null or memory._comparable_tags(m.tags,
        _searchable.tags_all) @> _searchable.tags_all)
      and (_searchable.tags_any is null or memory._comparable_tags(m.tags,
        _searchable.tags_any) && _searchable.tags_any)
      and (_searchable.exclude_tags is null or not memory._comparable_tags(m.tags,
        _searchable.exclude_tags) && _searchable.exclude_tags)
      and (_searchable.min_confidence is null or m.confidence >= memory._real(_searchable.min_confidence))
      and (_searchable.filter is null or m.metadata @> _searchable.filter)
    union all
    select 'summary', s.summary_id::text, nullif(s.thread_id, ''), null, s.created_at, s.search_vector, null, null
    from memory._current_summaries(_searchable.user_id, _searchable.as_of) as s
    where 'summary' = any (_searchable.sources) and coalesce(_searchable.doc_types, _searchable.namespaces) is null
      and coalesce(_searchable.memory_types, _searchable.tags_all, _searchable.tags_any) is null and _searchable.min_confidence is null
      and (_searchable.agent_id is null or s.agent_ids <@ array[_searchable.agent_id])
      and (_searchable.filter is null or s.metadata @> _searchable.filter)
    union all
    select 'document', d.document_id || '/' || c.number, d.thread_id, c.number, d.created_at, c.search_vector, null,
      null
    from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
    where 'document' = any (_searchable.sources) and d.user_id = _searchable.user_id and c.user_id = _searchable.user_id
      and coalesce(_searchable.memory_types, _searchable.tags_all, _searchable.tags_any) is null and _searchable.min_confidence is null
      and d.created_at <= coalesce(_searchable.as_of, 'infinity')
      and (_searchable.agent_id is null or d.agent_ids <@ array[_searchable.agent_id])
      and (_searchable.doc_types is null or d.doc_type = any (_searchable.doc_types))
      and (_searchable.namespaces is null or d.namespace = any (_searchable.namespaces))
      and (_searchable.filter is null or d.metadata @> _searchable.filter)
    union all
    select 'message', m.thread_id || '/' || m.seq, m.thread_id, m.seq, m.created_at, m.search_vector,
      case when m.search_vector is null and _searchable.compares_words then m.content end,
      case when m.search_vector is null and _searchable.compares_words then m.metadata end
    from memory.messages as m
    where 'message' = any (_searchable.sources) and m.user_id = _searchable.user_id and m.is_active and m.expires_at > statement_timestamp()
      and coalesce(_searchable.memory_types, _searchable.tags_all, _searchable.tags_any, _searchable.doc_types, _searchable.namespaces) is null
      and _searchable.min_confidence is null
      and (_searchable.agent_id is null or m.agent_id = _searchable.agent_id)
      and (_searchable.unfiltered or (
        m.created_at <= coalesce(_searchable.as_of, 'infinity')
        and (_searchable.filter is null or m.metadata @> _searchable.filter)))
    union all
    select 'artifact', a.key, a.thread_id, null, a.created_at, a.search_vector, null, null
    from memory._current_artifacts(_searchable.user_id) as a
    where 'artifact' = any (_searchable.sources)
      and coalesce(_searchable.memory_types, _searchable.tags_all, _searchable.tags_any, _searchable.doc_types, _searchable.namespaces) is null
      and _searchable.min_confidence is null and a.created_at <= coalesce(_searchable.as_of, 'infinity')
      and (_searchable.agent_id is null or a.agent_id = _searchable.agent_id)
      and (_searchable.filter is null or a.metadata @> _searchable.filter)
  ) as t (source, id, thread_id, number, created_at, vector, content, metadata)
  where _searchable.unfiltered or (
    (_searchable.thread_id is null or t.thread_id = _searchable.thread_id)
    and (_searchable.exclude_thread_id is null or t.thread_id is distinct from _searchable.exclude_thread_id)
    and (_searchable.created_after is null or t.created_at > _searchable.created_after)
    and (_searchable.created_before is null or t.created_at < _searchable.created_before));
end;
