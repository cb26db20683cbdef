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
  -- A message that compression put away is cleared as well: without its summary_id no job and no search reads it.
  update memory.messages as m set is_active = false, summary_id = null
  where m.user_id = delete_message.user_id
    and m.thread_id = delete_message.thread_id
    and m.seq = delete_message.seq
    and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at);
  if not found then
    return false;
  end if;
  if exists (
    select from memory.summaries as s
    where s.user_id = delete_message.user_id and s.thread_id = delete_message.thread_id
      and s.kind = 'thread' and s.end_seq >= delete_message.seq
  ) then
    perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
    perform memory._forget_conversation(user_id, thread_id);
  end if;
  perform memory._drop_summaries(user_id, thread_id, p_from_seq => seq);
  if exists (
    select from memory.documents as d
    where d.user_id = delete_message.user_id and d.thread_id = delete_message.thread_id and d.source = 'archive'
      and coalesce(memory._time_or_null(d.metadata #>> '{date_range,end}') >= (
        select m.created_at from memory.messages as m
        where m.user_id = d.user_id and m.thread_id = d.thread_id and m.seq = delete_message.seq), true)
  ) then
    perform memory._close_archive(user_id, thread_id);
  end if;
  perform memory._note_deletion(user_id, thread_id);
  return true;
end;
$$;
comment on function memory.delete_message(text, text, bigint) is
'Soft-deletes one message of a thread, for example the last one, and the summaries that cover it; returns whether it '
'was there, also one that compression put away. Numbering goes on where it was. What jobs have learned from the '
'message stays, and so does an archived conversation, of which a notice tells.';

-- Drops the summaries of a thread from a message on, or those that read messages of an agent; earlier ones, and those
-- of others, stay. A job that is reading the thread right now starts again.
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

-- Has messages summarised anew that compression put away for a summary that is gone: they stand in no context.
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
