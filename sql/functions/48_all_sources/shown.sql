-- What a result shows. Read for the few that are shown, not for all that are ranked; the thread of a memory too, because memories_recent_idx
-- does not have it. Nothing for a memory that is gone although its embedding says otherwise: a change under
-- repeatable read does not see an embedding that was stored meanwhile.
create or replace function memory._search_row(
  p_user_id text, p_source text, p_id text, inout thread_id text, p_number bigint, p_as_of timestamptz default null, p_include_superseded boolean default false,
  out content text, out metadata jsonb, out details jsonb
)
language plpgsql stable parallel safe
as $$
begin
  case p_source
    when 'memory' then
      select m.thread_id, m.content, m.metadata, jsonb_build_object(
        'memory_type', m.memory_type, 'tags', m.tags, 'confidence', m.confidence, 'importance', m.importance, 'agent_id', m.agent_id, 'superseded_by', m.superseded_by)
      into thread_id, content, metadata, details
      from memory._shown_memories(p_user_id, p_as_of, p_include_superseded) as m where m.memory_id = p_id::uuid;
    when 'summary' then
      select s.summary, s.metadata, jsonb_build_object('kind', s.kind, 'start_seq', s.start_seq, 'end_seq', s.end_seq) into content, metadata, details
      from memory.summaries as s where s.user_id = p_user_id and s.summary_id = p_id::uuid;
    when 'document' then
      -- Of a long one that no job has cut yet, the beginning: as much as a piece of 800 tokens.
      select case when c.token_count is null then left(c.content, 3200) else c.content end, d.metadata, jsonb_build_object(
        'title', d.title, 'namespace', d.namespace, 'doc_type', d.doc_type, 'chunk', c.number,
        'chunks', (select count(*) from memory.document_chunks as a where a.user_id = d.user_id and a.document_id = d.document_id))
      into content, metadata, details
      from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
      where d.user_id = p_user_id and d.document_id = split_part(p_id, '/', 1)::uuid and c.number = p_number::int;
    when 'message' then
      select m.content, m.metadata, jsonb_build_object('seq', m.seq, 'role', m.role, 'agent_id', m.agent_id) into content, metadata, details
      from memory.messages as m where m.user_id = p_user_id and m.thread_id = _search_row.thread_id and m.seq = p_number;
    when 'artifact' then -- its placeholder: the content may have 10 MiB
      select memory._memory_ref(a.key, a.description, a.token_count), a.metadata, jsonb_build_object(
        'key', a.key, 'description', a.description, 'artifact_type', a.artifact_type, 'token_count', a.token_count, 'agent_id', a.agent_id)
      into content, metadata, details
      from memory.artifacts as a where a.user_id = p_user_id and a.key = p_id;
  end case;
end;
$$;
