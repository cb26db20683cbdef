-- Finds everything that derives from a poisoned source: memories name their messages (source_seqs), articles their
-- memories (metadata.memory_ids), and summaries the range that they cover.

-- Puts messages of a thread into quarantine with everything that derives from them, and returns the counts. A job that
-- has read one of these messages starts again. The caller has locked the thread and all counters of the user.
create or replace function memory._quarantine_said(
  p_user_id text, p_thread_id text, p_seqs bigint[], p_reason text, p_origin text
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  messages constant bigint := memory._quarantine_messages(p_user_id, p_thread_id, p_seqs, p_reason);
  derived constant uuid[] := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id
      and memory._is_shown_or_waits(m.deleted_at, m.quarantine_reason)
      and (m.source_seqs && p_seqs
           or m.source = 'thread_summary' and memory._seq_or_null(m.metadata -> 'end_seq') >= p_seqs[1]));
  unheard bigint; -- the oldest remaining message that states a memory in quarantine
  counts jsonb;
begin
  select min(s.seq) into unheard
  from memory.memories as m cross join lateral unnest(m.source_seqs) as s (seq)
  where m.user_id = p_user_id and m.memory_id = any (derived) and s.seq <> all (p_seqs);
  counts := memory._quarantine_memories_with_articles(p_user_id, derived, p_reason, p_origin, p_origin);
  counts := memory._added(counts, memory._quarantine_archive(p_user_id, p_thread_id, p_reason, p_origin));
  return memory._added(counts, jsonb_build_object('messages', messages,
    'summaries', memory._renew_summaries(p_user_id, p_thread_id, p_seqs[1], unheard)));
end;
$$;

-- Puts memories into quarantine, and the articles that were made of them. p_with is the source with which the memories
-- are released (null: by themselves), and p_origin the source with which the articles are released.
create or replace function memory._quarantine_memories_with_articles(
  p_user_id text, p_memory_ids uuid[], p_reason text, p_with text, p_origin text
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  return jsonb_build_object(
    'memories', memory._quarantine_memories(p_user_id, p_memory_ids, p_reason, p_with),
    'documents', (
      select count(*) filter (where memory._quarantine_document(p_user_id, d.document_id, p_reason, p_origin))
      from memory.documents as d
      where p_memory_ids <> '{}' and d.user_id = p_user_id and memory._is_article_of(d, p_memory_ids)));
end;
$$;

-- Puts all archives of a conversation, or only the one with this summary, into quarantine. Later archives are new
-- documents.
create or replace function memory._quarantine_archive(
  p_user_id text, p_thread_id text, p_reason text, p_origin text, p_summary_id uuid default null
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  documents bigint;
begin
  select count(*) filter (where memory._quarantine_document(p_user_id, d.document_id, p_reason, p_origin))
  into documents
  from memory.documents as d
  where d.user_id = p_user_id and d.thread_id = p_thread_id and memory._is_archive(d)
    and (p_summary_id is null or d.metadata ->> 'summary_id' = p_summary_id::text);
  update memory.documents as d set source = 'closed_archive'
  where d.user_id = p_user_id and d.thread_id = p_thread_id and d.source = 'archive'
    and (p_summary_id is null or d.metadata ->> 'summary_id' = p_summary_id::text);
  return jsonb_build_object('documents', documents);
end;
$$;

-- Deletes the summaries of a thread that cover a message, and the summaries of the user that may cover it, has them
-- made anew, and returns how many were deleted. Jobs that have read the thread start again. With p_unheard memories are
-- extracted from the thread again from that message on.
create or replace function memory._renew_summaries(
  p_user_id text, p_thread_id text, p_first_seq bigint, p_unheard bigint default null
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  since timestamptz; -- summaries of the user from before this moment have not read the message
  reads_user constant boolean := exists (
    select from memory.marks as k
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'summarize_user' and k.position >= p_first_seq);
  job memory.jobs;
  kinds text[];
  deleted bigint;
  deleted_of_user bigint := 0;
begin
  -- The marks of all threads are locked before jobs, because a call for another thread may delete them.
  perform from memory.marks as k
  where k.user_id = p_user_id and k.kind = 'summarize_user' order by k.scope for update;
  if p_unheard is not null then
    update memory.marks as k set position = least(k.position, p_unheard - 1)
    where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'extract_memories';
  end if;
  if reads_user then -- threads read after that moment are read again
    select min(m.created_at) into since from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.seq >= p_first_seq;
    delete from memory.marks as k
    using memory.threads as t
    where k.user_id = p_user_id and k.kind = 'summarize_user' and t.user_id = k.user_id and t.thread_id = k.scope
      and t.last_at >= since;
  end if;
  for job in
    select j.* from memory.jobs as j
    where j.user_id = p_user_id and j.status = 'running'
      and (j.scope = p_thread_id or j.kind = 'summarize_user' and (reads_user or j.input -> 'through' ? p_thread_id))
    order by j.job_id for update
  loop
    perform memory._give_back(job);
  end loop;
  with gone as (
    delete from memory.summaries as s
    where s.user_id = p_user_id and s.thread_id = p_thread_id and s.end_seq >= p_first_seq
    returning s.kind, s.status
  )
  select array_agg(distinct g.kind) filter (where g.status = 'completed'), count(*) into kinds, deleted from gone as g;
  if reads_user then
    delete from memory.summaries as s where s.user_id = p_user_id and s.thread_id = '' and s.created_at >= since;
    get diagnostics deleted_of_user = row_count;
  end if;
  perform memory._enqueue(p_user_id, 'summarize_thread', p_thread_id, '{"is_forced": true}', k)
  from unnest(kinds) as k;
  if deleted_of_user > 0 then
    perform memory._enqueue(p_user_id, 'summarize_user', '');
  end if;
  if p_unheard is not null then
    perform memory._enqueue(p_user_id, 'extract_memories', p_thread_id);
  end if;
  return deleted + deleted_of_user;
end;
$$;
