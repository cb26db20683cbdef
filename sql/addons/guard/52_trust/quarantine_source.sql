create or replace function memory.quarantine_source(user_id text, source text, id text, reason text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  origin constant text := source || ' ' || id;
  said record; -- the messages of one thread
  counts jsonb := jsonb '{}';
begin
  perform memory._check_source_name(user_id, source, id);
  perform memory._check_id('reason', reason);
  reason := memory._masked_note(user_id, null, reason);
  perform memory._lock_source(user_id, source, id);
  -- Messages that show an artifact are included, because their text and memories came from the artifact.
  for said in select m.* from memory._messages_of_source(user_id, source, id) as m order by m.thread_id loop
    counts := memory._added(counts, memory._quarantine_said(user_id, said.thread_id, said.seqs, reason, origin));
  end loop;
  counts := memory._added(counts, case source
    when 'artifact' then jsonb_build_object('artifacts', memory._quarantine_artifact(user_id, id, reason)::int)
    when 'document' then jsonb_build_object('documents', memory._quarantine_document(user_id, id::uuid, reason)::int)
    when 'memory' then memory._quarantine_memories_with_articles(user_id, array[id::uuid], reason, null, origin)
    when 'summary' then memory._quarantine_summaries(user_id, array( -- and all summaries that continue it
      with recursive chain as (
        select quarantine_source.id::uuid as summary_id
        union
        select s.summary_id from chain as c
        join memory.summaries as s on s.user_id = quarantine_source.user_id and s.base_summary_id = c.summary_id
      )
      select c.summary_id from chain as c), reason)
    else jsonb '{}' end);
  perform memory._audit('quarantine_source', jsonb_build_object('source', source, 'id', id), user_id);
  return jsonb '{"messages": 0, "memories": 0, "documents": 0, "artifacts": 0, "summaries": 0}' || counts;
end;
$$;
comment on function memory.quarantine_source(text, text, text, text) is
'Takes back a poisoned source and everything that derives from it, in one transaction. source and id name a message '
'(thread_id/seq), a whole thread, a document, an artifact (its key), a summary or a memory. The source goes into '
'quarantine, and so do the memories extracted from it, and the articles and archives made of them; memories that '
'these had superseded are current again. Summaries that cover it are deleted, and made anew by jobs without it. A '
'summary takes along the summaries that continue it, and the memories and archives made of these; if its messages '
'are poisoned, name the messages. Copies of a thread (copy_thread) are taken back with it. Returns the counts. '
'memory.release_source() undoes it.';

-- Refuses an unknown kind of source, or an id that this user does not have.
create or replace function memory._check_source_name(p_user_id text, p_source text, p_id text)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._check_id('user_id', p_user_id);
  if (p_source in ('message', 'thread', 'document', 'artifact', 'summary', 'memory')) is not true then
    perform memory._refuse('source', coalesce('unknown source "' || left(p_source, 50) || '"', 'must not be null'),
      'Use message, thread, document, artifact, summary or memory.');
  elsif p_id is null then
    perform memory._refuse('id', 'must not be null', 'Pass the id as memory.search() shows it.');
  elsif p_source = 'message' and p_id !~ '^.+/[0-9]{1,18}$'
    or p_source in ('document', 'summary', 'memory')
      and p_id !~ '^[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' then
    perform memory._refuse('id', format('"%s" names no %s', left(p_id, 300), p_source),
      'A message is thread_id/seq; documents, summaries and memories have a UUID.');
  elsif not (case p_source
      when 'document' then exists (
        select from memory.documents as d where d.user_id = p_user_id and d.document_id = p_id::uuid)
      when 'artifact' then exists (select from memory.artifacts as a where a.user_id = p_user_id and a.key = p_id)
      when 'summary' then exists (
        select from memory.summaries as s where s.user_id = p_user_id and s.summary_id = p_id::uuid
          and s.status in ('completed', 'quarantined'))
      when 'memory' then exists (
        select from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_id::uuid
          and (m.deleted_at is null or m.quarantined_at is not null))
      else exists (select from memory._messages_of_source(p_user_id, p_source, p_id)) end) then
    perform memory._refuse('id', format('this user has no %s %s', p_source, left(p_id, 300)),
      'memory.search() shows ids.', 'P0002');
  end if;
end;
$$;

-- The stored messages of a source, by thread: a message or a thread, with its copies in copied threads; or the messages
-- that show an artifact.
create or replace function memory._messages_of_source(p_user_id text, p_source text, p_id text)
returns table (thread_id text, seqs bigint[])
language plpgsql stable parallel safe
as $$
declare
  origin constant text := case p_source when 'message' then substring(p_id from '^(.*)/') else p_id end;
  only_seq constant bigint := case p_source when 'message' then substring(p_id from '/([0-9]+)$')::bigint end;
begin
  if p_source = 'artifact' then
    return query
    select m.thread_id, array_agg(m.seq order by m.seq) from memory.messages as m
    where m.user_id = p_user_id and m.artifact_key = p_id
    group by m.thread_id;
  elsif p_source in ('message', 'thread') then
    return query
    select c.thread_id, s.seqs
    from memory._copies_of(p_user_id, origin) as c
    cross join lateral (
      select array_agg(m.seq order by m.seq) as seqs from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = c.thread_id
        and m.seq between coalesce(only_seq, 0) and least(c.upto_seq, only_seq)
        and (c.thread_id = origin or memory._may_be_copy(p_user_id, origin, m.seq, m.created_at))) as s
    where s.seqs <> '{}';
  end if;
end;
$$;

-- Locks the threads of a source, then the counters of all agents that may have memories of them. If another session
-- made a copy of a thread before this one locked the origin, the copy is locked as well, though out of order.
create or replace function memory._lock_source(p_user_id text, p_source text, p_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  threads text[];
  locked text[];
begin
  if p_source = 'memory' then -- locks the counters of derived memories in one order
    perform memory._lock_scopes_of(p_user_id, p_id::uuid || array(
      select m.memory_id from memory.memories as m
      where m.user_id = p_user_id and m.quarantined_with = 'memory ' || p_id));
  end if;
  loop
    threads := case p_source
      when 'summary' then array(
        select s.thread_id from memory.summaries as s where s.user_id = p_user_id and s.summary_id = p_id::uuid)
      else array(select m.thread_id from memory._messages_of_source(p_user_id, p_source, p_id) as m) end;
    exit when threads <@ coalesce(locked, '{}');
    locked := threads;
    perform from memory.threads as t
    where t.user_id = p_user_id and t.thread_id = any (threads) order by t.thread_id for update;
    perform memory._lock_scopes_of_threads(p_user_id, threads);
  end loop;
end;
$$;
