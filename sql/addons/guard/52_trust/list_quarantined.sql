create or replace function memory.list_quarantined(
  user_id text, source text default null, row_limit int default 50, row_offset int default 0
)
returns setof memory.quarantined
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_reader(user_id);
  perform memory._check_page(row_limit, row_offset);
  if source not in ('memory', 'message', 'document', 'artifact', 'summary') then
    perform memory._refuse('source', format('unknown source "%s"', left(source, 50)),
      'Use memory, message, document, artifact or summary, or leave it out for all.');
  end if;
  return query
  select q.source, q.id, left(q.content, 8000), q.trust::real, q.quarantined_at, q.reason, q.quarantined_with,
    count(*) over ()
  from (
    select 'memory' as source, m.memory_id::text as id, m.content, m.trust, m.quarantined_at,
      m.quarantine_reason as reason, m.quarantined_with
    from memory.memories as m
    where m.user_id = list_quarantined.user_id and m.quarantined_at is not null
      and memory._is_unexpired(m.expires_at)
    union all
    select 'message', k.thread_id || '/' || k.seq, k.content, memory._message_trust(m.role, m.metadata),
      k.quarantined_at, k.reason, null
    from memory.quarantined_messages as k
    join memory.messages as m on m.user_id = k.user_id and m.thread_id = k.thread_id and m.seq = k.seq
    where k.user_id = list_quarantined.user_id and k.released_at is null
      and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
    union all
    select 'document', d.document_id::text, concat_ws(e'\n', d.title, d.content), d.trust, d.quarantined_at,
      d.quarantine_reason, d.quarantined_with
    from memory.documents as d
    where d.user_id = list_quarantined.user_id and d.quarantined_at is not null
    union all
    select 'artifact', a.key,
      concat_ws(e'\n', a.description, memory._content_slice(a.user_id, a.content_id, 0, 32000)),
      memory._artifact_trust(a), a.quarantined_at, a.quarantine_reason, null
    from memory.artifacts as a
    where a.user_id = list_quarantined.user_id and a.quarantined_at is not null
    union all
    select 'summary', s.summary_id::text, s.summary, memory._source_trust('assistant'),
      s.quarantined_at, s.quarantine_reason, null
    from memory.summaries as s
    where s.user_id = list_quarantined.user_id and s.status = 'quarantined'
  ) as q
  where list_quarantined.source is null or q.source = list_quarantined.source
  order by q.quarantined_at desc, q.source, q.id desc
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_quarantined(text, text, int, int) is
'A user''s texts in quarantine, newest first: memories, messages, documents, artifacts and summaries with their first '
'8,000 characters, trust, reason, and the poisoned source that they derive from (quarantined_with). total_count is '
'the number on all pages.';
