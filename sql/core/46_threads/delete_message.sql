create or replace function memory.delete_message(user_id text, thread_id text, seq bigint)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if seq is null then
    perform memory._refuse('seq', 'must not be null', 'Pass a seq of memory.get_messages().');
  end if;
  if not memory._lock_existing_thread(user_id, thread_id) then
    return false;
  end if;
  return memory._delete_messages(user_id, array[thread_id], array[seq]) > 0;
end;
$$;
comment on function memory.delete_message(text, text, bigint) is
'Soft-deletes one message of a thread, for example the last one, and the summaries that cover it; returns whether the '
'message was there. A compressed message is deleted as well. Numbering goes on where it was. Memories that jobs have '
'extracted from the message stay, and so does an archived conversation, which a notice names.';

-- Soft-deletes messages of threads that the caller has locked, and returns how many of them could be read. The thread
-- and the seq at the same place of the two arrays name a message. Summaries that cover a deleted message are deleted,
-- and archives that contain one are closed.
create or replace function memory._delete_messages(p_user_id text, p_thread_ids text[], p_seqs bigint[])
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  places tid[];
  deleted bigint;
  threads text[]; -- the threads of deleted messages, with the first deleted message of each
  first_seqs bigint[];
  first_times timestamptz[];
  summarized text[];
begin
  -- Each message is looked up by its key: a plan made while the table was empty would read all messages of the user.
  places := array(
    select f.place
    from unnest(p_thread_ids, p_seqs) as p (thread_id, seq)
    cross join lateral (
      select m.ctid as place from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = p.thread_id and m.seq = p.seq offset 0 for update) as f);
  -- A compressed message loses its summary_id, so that it counts as cleared, and no job and no search reads it.
  with gone as (
    update memory.messages as m set is_active = false, summary_id = null
    where m.ctid = any (places) and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
    returning m.thread_id, m.seq, m.created_at
  )
  select coalesce(sum(t.messages), 0), array_agg(t.thread_id), array_agg(t.first_seq), array_agg(t.first_at)
  into deleted, threads, first_seqs, first_times
  from (select g.thread_id, count(*) as messages, min(g.seq) as first_seq, min(g.created_at) as first_at
        from gone as g group by g.thread_id order by g.thread_id) as t;
  if deleted = 0 then
    return 0;
  end if;
  summarized := array(
    select t.thread_id
    from unnest(threads, first_seqs) as t (thread_id, seq)
    where exists (
      select from memory.summaries as s
      where s.user_id = p_user_id and s.thread_id = t.thread_id and s.kind = 'thread' and s.end_seq >= t.seq offset 0)
    order by t.thread_id);
  if summarized <> '{}' then
    perform memory._lock_scopes_of_threads(p_user_id, summarized);
    perform memory._forget_conversation(p_user_id, s) from unnest(summarized) as s;
  end if;
  perform memory._drop_summaries(p_user_id, t.thread_id, p_from_seq => t.seq)
  from unnest(threads, first_seqs) as t (thread_id, seq);
  perform memory._close_archive(p_user_id, t.thread_id)
  from unnest(threads, first_times) as t (thread_id, first_at)
  cross join lateral (
    select a.metadata from memory.documents as a
    where a.user_id = p_user_id and a.thread_id = t.thread_id and a.source = 'archive' offset 0) as d
  where coalesce(memory._time_or_null(d.metadata #>> '{date_range,end}') >= t.first_at, true);
  perform memory._note_deletion(p_user_id, threads);
  return deleted;
end;
$$;

-- Deletes the summaries of a thread that reach to a message or beyond it, or the summaries that read messages of an
-- agent. All other summaries stay. A job that is reading the thread now starts again.
create or replace function memory._drop_summaries(
  p_user_id text, p_thread_id text, p_from_seq bigint default null, p_agent_id text default null
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  job memory.jobs;
begin
  for job in
    select j.* from memory.jobs as j
    where j.user_id = p_user_id and j.scope = p_thread_id and j.status = 'running'
    for update
  loop
    perform memory._give_back(job);
  end loop;
  delete from memory.summaries as s
  where s.user_id = p_user_id and s.thread_id = p_thread_id
    and (s.end_seq >= p_from_seq or p_agent_id = any (s.agent_ids));
  if found then
    perform memory._summarize_put_away(p_user_id, p_thread_id);
  end if;
end;
$$;

-- Has compressed messages summarised anew if their summary is gone, because otherwise no context shows what they said.
create or replace function memory._summarize_put_away(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  last_covered constant bigint := (memory._latest_summary(p_user_id, p_thread_id, 'thread')).end_seq;
begin
  if exists (
    select from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id
      and not m.is_active and m.summary_id is not null and m.seq > coalesce(last_covered, -1)
  ) then
    perform memory._enqueue(p_user_id, 'summarize_thread', p_thread_id, '{"is_forced": true}', 'thread');
  end if;
end;
$$;
