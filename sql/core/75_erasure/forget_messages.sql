-- Removes the messages that state these memories, and everything that was made of these messages. A message states a
-- memory if the memory names it as its source, or if it has the same words in its content or metadata. The caller holds
-- the locks, those of p_threads.
create or replace function memory._forget_messages(
  p_user_id text, p_memory_ids uuid[], p_wordings text[], p_threads text[]
)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  patterns constant text[] := memory._patterns_of(p_wordings);
  -- Of uploads, which no artifact names yet.
  uploads uuid[] := memory._stating_contents(p_user_id,
    array(select u.upload_id from memory.artifact_uploads as u where u.user_id = p_user_id), p_wordings);
  artifacts uuid[];
  places jsonb; -- for each thread the numbers of its messages that go
  thread record;
  keys text[];
  contents text[];
  notice constant text := memory._quarantine_notice();
  said text[] := p_wordings; -- and those of the messages that go
  removed bigint;
  gone jsonb := jsonb '{}';
begin
  delete from memory.shown_rounds as s where s.user_id = p_user_id; -- with hashes of queries, perhaps of these words
  get diagnostics removed = row_count;
  gone := jsonb_strip_nulls(jsonb_build_object('shown_rounds', nullif(removed, 0)));
  -- Uploads before artifacts, the order of memory.store_artifact(). The pieces go in a statement of their own, because
  -- it sees the piece for which the one before has waited.
  with deleted as (
    delete from memory.artifact_uploads as u where u.user_id = p_user_id and u.upload_id = any (uploads)
    returning u.upload_id
  )
  select array_agg(d.upload_id) into uploads from deleted as d;
  delete from memory.artifact_parts as p where p.user_id = p_user_id and p.content_id = any (uploads);
  gone := memory._added(gone, jsonb_strip_nulls(jsonb_build_object('artifact_uploads', cardinality(uploads))));
  select coalesce(jsonb_object_agg(f.thread_id, f.seqs), '{}') into places
  from (
    select m.thread_id, jsonb_agg(m.seq order by m.seq) as seqs
    from (
      -- With their copies in copied threads, which keep number and time. The source may be gone, or in quarantine.
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
      -- An application may have replaced the metadata that say of what a thread is a copy.
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
      from memory.quarantined_messages as q -- which keep the text of the message
      where q.user_id = p_user_id and memory._may_state(q.content, patterns)
        and memory._states_any(q.content, p_wordings)) as m
    where m.thread_id = any (p_threads)
    group by m.thread_id) as f;
  for thread in
    select p.key as thread_id, array(select s::bigint from jsonb_array_elements_text(p.value) as s) as seqs
    from jsonb_each(places) as p
  loop
    contents := array(
      select q.content from memory.quarantined_messages as q
      where q.user_id = p_user_id and q.thread_id = thread.thread_id and q.seq = any (thread.seqs)
        and q.released_at is null);
    with deleted as (
      delete from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = thread.thread_id and m.seq = any (thread.seqs)
      returning m.content, m.artifact_key
    )
    select count(*), contents || array_agg(d.content) filter (where not starts_with(d.content, notice)),
      array_agg(d.artifact_key) filter (where d.artifact_key is not null)
    into removed, contents, keys from deleted as d;
    perform memory._bury(p_user_id, contents);
    said := said || memory._wordings_of(contents);
    gone := memory._added(gone, jsonb_build_object('messages', removed));
    -- Their idempotency keys stay, so that a repeated call or import does not store them again, but not their digests,
    -- by which anybody could guess the text.
    update memory.idempotency_keys as k set digest = ''
    where k.user_id = p_user_id and k.thread_id = thread.thread_id and k.seq = any (thread.seqs);
    delete from memory.artifacts as a
    where a.user_id = p_user_id and a.thread_id = thread.thread_id and a.key = any (keys)
      and not exists (
        select from memory.messages as m
        where m.user_id = a.user_id and m.thread_id = a.thread_id and m.artifact_key = a.key);
    get diagnostics removed = row_count;
    gone := memory._added(gone, jsonb_strip_nulls(jsonb_build_object('artifacts', nullif(removed, 0))));
    gone := memory._added(gone, memory._forget_summaries(p_user_id, thread.thread_id, thread.seqs[1]));
  end loop;
  artifacts := memory._stating_contents(p_user_id,
    array(select a.content_id from memory.artifacts as a where a.user_id = p_user_id), p_wordings);
  delete from memory.artifacts as a where a.user_id = p_user_id and a.content_id = any (artifacts);
  get diagnostics removed = row_count;
  gone := memory._added(gone, jsonb_strip_nulls(jsonb_build_object('artifacts', nullif(removed, 0))));
  -- Archives of conversations outlive the summaries that they were made with.
  delete from memory.documents as d
  where d.user_id = p_user_id and memory._is_archive(d) and memory._states_any(d.content, said);
  get diagnostics removed = row_count;
  gone := memory._added(gone, jsonb_strip_nulls(jsonb_build_object('documents', nullif(removed, 0))));
  -- Summaries that say it without a message that is left to say so.
  for thread in
    select s.thread_id, min(s.end_seq) as end_seq from memory.summaries as s
    where s.user_id = p_user_id and s.thread_id <> '' and memory._states_any(s.summary, p_wordings)
    group by s.thread_id
  loop
    gone := memory._added(gone, memory._forget_summaries(p_user_id, thread.thread_id, thread.end_seq));
  end loop;
  if places <> '{}' or exists (
    select from memory.summaries as s
    where s.user_id = p_user_id and s.thread_id = '' and memory._states_any(s.summary, p_wordings)) then
    -- A new one is made of all that is left.
    delete from memory.marks as k where k.user_id = p_user_id and k.kind = 'summarize_user';
    get diagnostics removed = row_count;
    gone := memory._added(gone, jsonb_strip_nulls(jsonb_build_object('marks', nullif(removed, 0))));
    delete from memory.summaries as s where s.user_id = p_user_id and s.thread_id = '';
    if found and exists (select from memory.models as m where m.kind = 'chat' and m.is_active) then
      perform memory._enqueue(p_user_id, 'summarize_user', '');
    end if;
  end if;
  delete from memory.query_embeddings as q where q.user_id = p_user_id; -- a query may have the forgotten words
  get diagnostics removed = row_count;
  return memory._added(gone, jsonb_strip_nulls(jsonb_build_object('query_embeddings', nullif(removed, 0))));
end;
$$;

-- Removes the summaries of a thread from this message on, with everything that was made of them, and queues new ones if
-- there is a chat model. Messages that compression has put into one of these summaries come back into the thread.
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
  return gone || jsonb_strip_nulls(jsonb_build_object('documents', nullif(documents, 0)));
end;
$$;
