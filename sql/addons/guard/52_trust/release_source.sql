create or replace function memory.release_source(user_id text, source text, id text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said record; -- the messages of one thread
  released memory.memories;
  summaries jsonb := jsonb '[]'; -- the threads with released messages, with the first released message of each
  counts jsonb := jsonb '{}';
begin
  perform memory._check_source_name(user_id, source, id);
  perform memory._lock_source(user_id, source, id);
  for said in
    select m.thread_id, m.seqs[1] as first_seq, memory._release_messages(user_id, m.thread_id, m.seqs) as messages
    from memory._messages_of_source(user_id, source, id) as m order by m.thread_id
  loop
    counts := memory._added(counts, jsonb_build_object('messages', said.messages));
    summaries := summaries || case when said.messages > 0 then jsonb_build_array(to_jsonb(said)) else '[]' end;
  end loop;
  counts := memory._added(counts, memory._release_derived(user_id, source || ' ' || id));
  if source = 'memory' then
    select m.* into released from memory.memories as m
    where m.user_id = release_source.user_id and m.memory_id = release_source.id::uuid and m.quarantined_at is not null
    for update;
    counts := memory._added(counts, jsonb_build_object('memories', case when found
      then memory._release_quarantined(released, true)::int else 0 end));
  elsif source = 'document' then
    counts := memory._added(counts, jsonb_build_object(
      'documents', memory._release_document(user_id, id::uuid)::int));
  elsif source = 'summary' then
    update memory.summaries as s set status = 'completed', quarantined_at = null, quarantine_reason = null
    where s.user_id = release_source.user_id and s.summary_id = release_source.id::uuid and s.status = 'quarantined';
    counts := memory._added(counts, jsonb_build_object('summaries', found::int));
  elsif source = 'artifact' then
    counts := memory._added(counts, jsonb_build_object('artifacts', memory._release_artifact(user_id, id)::int));
  end if;
  -- Summaries come last, because their jobs follow threads, counters and memories in the order of locks.
  counts := memory._added(counts, jsonb_build_object('summaries', (
    select coalesce(sum(memory._renew_summaries(
      release_source.user_id, t.said ->> 'thread_id', (t.said ->> 'first_seq')::bigint)), 0)
    from jsonb_array_elements(summaries) as t (said))));
  perform memory._audit('release_source', jsonb_build_object('source', source, 'id', id), user_id);
  return jsonb '{"messages": 0, "memories": 0, "documents": 0, "artifacts": 0, "summaries": 0}' || counts;
end;
$$;
comment on function memory.release_source(text, text, text) is
'Undoes memory.quarantine_source(): the source and everything that went into quarantine with it are used again, and '
'no rule quarantines them again. Summaries are made anew. A text that another quarantined source also accounts for '
'stays. Returns the counts.';

-- Releases everything that went into quarantine with a source. A memory stays in quarantine if another quarantined
-- message states it, or if its content was stored anew meanwhile.
create or replace function memory._release_derived(p_user_id text, p_origin text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  derived memory.memories;
  other text;
  memories bigint := 0;
  documents bigint;
begin
  perform memory._lock_scopes_of(p_user_id, array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.quarantined_at is not null and m.quarantined_with = p_origin));
  for derived in
    select m.* from memory.memories as m
    where m.user_id = p_user_id and m.quarantined_at is not null and m.quarantined_with = p_origin
    order by m.memory_id for no key update
  loop
    select 'message ' || derived.thread_id || '/' || s.seq into other
    from unnest(derived.source_seqs) as s (seq)
    where ( -- no "where exists": such a join read all messages of the thread for each memory
      select q.released_at is null from memory.quarantined_messages as q
      where q.user_id = p_user_id and q.thread_id = derived.thread_id and q.seq = s.seq)
    order by s.seq limit 1;
    if found then
      update memory.memories as m set quarantined_with = other, operation = 'quarantine', version = m.version + 1
      where m.user_id = p_user_id and m.memory_id = derived.memory_id;
    else
      memories := memories + memory._release_quarantined(derived)::int;
    end if;
  end loop;
  select count(*) filter (where memory._release_document(p_user_id, d.document_id)) into documents
  from memory.documents as d
  where d.user_id = p_user_id and d.quarantined_at is not null and d.quarantined_with = p_origin;
  return jsonb_build_object('memories', memories, 'documents', documents);
end;
$$;
