-- Removes the messages that state these memories, and everything that was made of these messages. A message states a
-- memory if the memory names the message as its source, or if the message has the same words in its content or
-- metadata. The caller has locked the rows of the user; p_threads are the locked threads.
create or replace function memory._forget_messages(
  p_user_id text, p_memory_ids uuid[], p_wordings text[], p_threads text[]
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
  threads text[]; -- the threads and numbers of the messages to remove
  seqs bigint[];
  threads_of_keys text[]; -- the threads and keys of those of them that became artifacts
  keys text[];
  thread record;
  contents text[];
  said text[]; -- these wordings, and those of the removed messages
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  {{each addon with forget_first: gone := memory._added(gone, memory._<addon>_forget_first(p_user_id, p_wordings));}}
  delete from memory.shown_rounds as s where s.user_id = p_user_id; -- their query hashes may be of these words
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'shown_rounds', removed);
  select coalesce(array_agg(m.thread_id), '{}'), coalesce(array_agg(m.seq), '{}') into threads, seqs
  from (
    -- The source messages, and their copies in copied threads, which have the same number and time. A source message
    -- itself may be removed already, or in quarantine.
    select c.thread_id, c.seq
    from memory.memories as m
    cross join lateral memory._copies_of(p_user_id, m.thread_id) as t
    cross join lateral unnest(m.source_seqs) as s (seq)
    cross join lateral (
      select n.thread_id, n.seq from memory.messages as n
      where n.user_id = p_user_id and n.thread_id = t.thread_id and n.seq = s.seq and n.seq <= t.upto_seq
        and memory._may_be_copy(p_user_id, m.thread_id, n.seq, n.created_at) offset 0) as c
    where m.user_id = p_user_id and m.memory_id = any (p_memory_ids)
    union
    -- Copies in threads whose metadata an application has replaced, so that they no longer name the copied thread.
    select c.thread_id, c.seq
    from memory.memories as m
    join memory.messages as s on s.user_id = m.user_id and s.thread_id = m.thread_id and s.seq = any (m.source_seqs)
    cross join lateral (
      select t.thread_id from memory.threads as t where t.user_id = p_user_id offset 0) as t
    cross join lateral (
      select n.thread_id, n.seq from memory.messages as n
      where n.user_id = p_user_id and n.thread_id = t.thread_id and n.seq = s.seq
        and n.created_at = s.created_at and n.content = s.content offset 0) as c
    where m.user_id = p_user_id and m.memory_id = any (p_memory_ids)
    union
    select s.thread_id, s.seq
    from memory.messages as s
    where s.user_id = p_user_id
      and (memory._may_state(s.content, patterns) and memory._states_any(s.content, p_wordings)
        or s.metadata <> '{}' and memory._may_state(s.metadata::text, patterns)
          and memory._json_states_any(s.metadata, p_wordings)) -- such as the arguments of a tool's call
    union
    select q.thread_id, q.seq
    from memory.quarantined_messages as q -- these rows keep the text of the message
    where q.user_id = p_user_id and memory._may_state(q.content, patterns)
      and memory._states_any(q.content, p_wordings)) as m
  where m.thread_id = any (p_threads);
  contents := array(
    select q.content
    from unnest(threads, seqs) as d (thread_id, seq)
    join memory.quarantined_messages as q on q.user_id = p_user_id and q.thread_id = d.thread_id and q.seq = d.seq
    where q.released_at is null
    union all
    select m.content
    from unnest(threads, seqs) as d (thread_id, seq)
    join memory.messages as m on m.user_id = p_user_id and m.thread_id = d.thread_id and m.seq = d.seq
    where not starts_with(m.content, memory._quarantine_notice()));
  said := p_wordings || memory._wordings_of(contents);
  perform memory._bury(p_user_id, contents);
  select array_agg(m.thread_id), array_agg(m.artifact_key) into threads_of_keys, keys
  from unnest(threads, seqs) as d (thread_id, seq)
  join memory.messages as m on m.user_id = p_user_id and m.thread_id = d.thread_id and m.seq = d.seq
  where m.artifact_key is not null;
  gone := memory._counting(gone, 'messages', memory._remove_messages(p_user_id, threads, seqs));
  {{each addon with forget_last:
  gone := memory._added(gone, memory._<addon>_forget_last(p_user_id, p_wordings, threads_of_keys, keys));}}
  for thread in
    select f.thread_id, min(f.seq) as first_seq
    from (
      select d.thread_id, d.seq from unnest(threads, seqs) as d (thread_id, seq)
      union all
      -- Summaries that state a memory although no remaining message does.
      select s.thread_id, s.end_seq from memory.summaries as s
      where s.user_id = p_user_id and s.thread_id <> '' and memory._states_any(s.summary, p_wordings)) as f
    group by f.thread_id
  loop
    gone := memory._added(gone, memory._forget_summaries(p_user_id, thread.thread_id, thread.first_seq));
  end loop;
  -- Archives of conversations outlive the summaries from which they were made, so they are searched by themselves.
  delete from memory.documents as d
  where d.user_id = p_user_id and memory._is_archive(d) and memory._states_any(d.content, said);
  get diagnostics removed = row_count;
  gone := memory._counting(gone, 'documents', removed);
  if threads <> '{}' or exists (
    select from memory.summaries as s
    where s.user_id = p_user_id and s.thread_id = '' and memory._states_any(s.summary, p_wordings)) then
    -- The next summary of the user is made of all remaining messages.
    delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'summarize_user';
    get diagnostics removed = row_count;
    gone := memory._counting(gone, 'marks', removed);
    delete from memory.summaries as s where s.user_id = p_user_id and s.thread_id = '';
    if found and exists (select from memory.models as m where m.kind = 'chat' and m.is_active) then
      perform memory._enqueue(p_user_id, 'summarize_user', '');
    end if;
  end if;
  delete from memory.query_embeddings as q where q.user_id = p_user_id; -- a query may have the forgotten words
  get diagnostics removed = row_count;
  return memory._counting(gone, 'query_embeddings', removed);
end;
$$;

-- Removes messages, and returns their number. Their idempotency keys stay, so that a repeated call or import does not
-- store the messages again. The digests of the keys are removed, because anybody could guess the text by them.
create or replace function memory._remove_messages(p_user_id text, p_threads text[], p_seqs bigint[])
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  removed bigint;
begin
  if coalesce(cardinality(p_seqs), 0) = 0 then
    return 0; -- the triggers of a deletion read more than this user
  end if;
  delete from memory.messages as m
  using unnest(p_threads, p_seqs) as d (thread_id, seq)
  where m.user_id = p_user_id and m.thread_id = d.thread_id and m.seq = d.seq;
  get diagnostics removed = row_count;
  update memory.idempotency_keys as k set digest = ''
  from unnest(p_threads, p_seqs) as d (thread_id, seq)
  where k.user_id = p_user_id and k.thread_id = d.thread_id and k.seq = d.seq;
  return removed;
end;
$$;

-- Removes the summaries of a thread that reach to this message or beyond, with everything that was made of them, and
-- queues new ones if there is a chat model. Compressed messages that such a summary covers return to the thread.
create or replace function memory._forget_summaries(p_user_id text, p_thread_id text, p_first_seq bigint)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  kinds text[];
  ids uuid[];
  documents bigint;
  gone jsonb := jsonb '{}';
begin
  with deleted as (
    delete from memory.summaries as s
    where s.user_id = p_user_id and s.thread_id = p_thread_id and s.end_seq >= p_first_seq
    returning s.kind, s.summary_id
  )
  select array_agg(distinct d.kind), array_agg(d.summary_id) into kinds, ids from deleted as d;
  if ids is null then
    return jsonb '{}';
  end if;
  update memory.messages as m set is_active = true, summary_id = null
  where m.user_id = p_user_id and m.thread_id = p_thread_id and not m.is_active and m.summary_id = any (ids);
  if 'thread' = any (kinds) then
    gone := memory._forget_conversation(p_user_id, p_thread_id);
  end if;
  delete from memory.documents as d
  where d.user_id = p_user_id and d.thread_id = p_thread_id and memory._is_archive(d);
  get diagnostics documents = row_count;
  if exists (select from memory.models as m where m.kind = 'chat' and m.is_active) then
    perform memory._enqueue(p_user_id, 'summarize_thread', p_thread_id, '{"is_forced": true}', k)
    from unnest(kinds) as k;
  end if;
  return memory._counting(gone, 'documents', documents);
end;
$$;
