create or replace function memory.release_source(user_id text, source text, id text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  said record; -- the messages of one thread
  messages bigint;
  threads text[] := array[]::text[]; -- those with released messages, and the first of these
  first_seqs bigint[] := array[]::bigint[];
  released memory.memories;
  counts jsonb := jsonb '{}';
  derived jsonb;
begin
  perform memory._check_source_name(user_id, source, id);
  if source in ('message', 'thread', 'artifact') then
    perform memory._lock_messages_of_source(user_id, source, id);
    for said in select m.* from memory._messages_of_source(user_id, source, id) as m order by m.thread_id loop
      messages := memory._release_messages(user_id, said.thread_id, said.seqs);
      counts := memory._added(counts, jsonb_build_object('messages', messages));
      if messages > 0 then
        threads := threads || said.thread_id;
        first_seqs := first_seqs || said.seqs[1];
      end if;
    end loop;
  end if;
  if source = 'memory' then -- with the counters of its derived memories, in one order
    perform memory._lock_scopes_of(user_id, id::uuid || array(
      select m.memory_id from memory.memories as m
      where m.user_id = release_source.user_id and m.quarantined_with = 'memory ' || release_source.id));
  end if;
  derived := memory._release_derived(user_id, source || ' ' || id);
  counts := memory._added(counts, derived);
  if source = 'memory' then
    select m.* into released from memory.memories as m
    where m.user_id = release_source.user_id and m.memory_id = release_source.id::uuid and m.quarantined_at is not null
    for update;
    if found then
      counts := memory._added(counts, jsonb_build_object(
        'memories', memory._release_quarantined(released)::int));
    end if;
  elsif source = 'document' then
    counts := memory._added(counts, jsonb_build_object(
      'documents', memory._release_document(user_id, id::uuid)::int));
  elsif source = 'summary' then
    update memory.summaries as s set status = 'completed', quarantined_at = null, quarantine_reason = null
    where s.user_id = release_source.user_id and s.summary_id = release_source.id::uuid and s.status = 'quarantined';
    if found then
      perform memory._enqueue_embedding(user_id);
      counts := memory._added(counts, jsonb '{"summaries": 1}');
    end if;
  elsif source = 'artifact' then
    update memory.artifacts as a
    set quarantined_at = null, quarantine_reason = null, released_at = statement_timestamp()
    where a.user_id = release_source.user_id and a.key = release_source.id and a.quarantined_at is not null;
    if found then
      perform memory._enqueue_embedding(user_id);
      counts := memory._added(counts, jsonb '{"artifacts": 1}');
    end if;
  end if;
  -- After all threads, counters and memories: the jobs that this locks come last in the order of locks.
  counts := memory._added(counts, jsonb_build_object('summaries', (
    select coalesce(sum(memory._renew_summaries(release_source.user_id, t.thread_id, t.first_seq)), 0)
    from unnest(threads, first_seqs) as t (thread_id, first_seq))));
  perform memory._audit('release_source', jsonb_build_object('source', source, 'id', id), user_id);
  return jsonb '{"messages": 0, "memories": 0, "documents": 0, "artifacts": 0, "summaries": 0}' || counts;
end;
$$;
comment on function memory.release_source(text, text, text) is
'Undoes memory.quarantine_source(): the source and everything that went into quarantine with it are used again, and '
'no rule quarantines them again. Summaries are made anew. A text that another quarantined source also accounts for '
'stays. Returns the counts.';

-- Releases everything that went into quarantine with a source. A memory that another quarantined message states stays
-- with that; one whose content was stored anew meanwhile stays as well.
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
    order by m.memory_id for update
  loop
    select 'message ' || derived.thread_id || '/' || s.seq into other
    from unnest(derived.source_seqs) as s (seq)
    where ( -- not "where exists": joined to the list, all messages of the thread were read for each memory
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
