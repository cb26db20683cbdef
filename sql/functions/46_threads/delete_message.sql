create or replace function memory.delete_message(user_id text, thread_id text, seq bigint)
returns boolean
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
  last_covered bigint; -- the newest message that a summary of the whole thread still covers
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if seq is null then
    perform memory._refuse('seq', 'must not be null', 'Pass a seq of memory.get_messages().');
  end if;
  if not memory._lock_existing_thread(user_id, thread_id) then
    return false;
  end if;
  update memory.messages as m set is_active = false
  where m.user_id = delete_message.user_id
    and m.thread_id = delete_message.thread_id
    and m.seq = delete_message.seq
    and memory._is_current_message(m.is_active, m.expires_at);
  if not found then
    return false;
  end if;
  -- Neither a summary nor a job that is reading the message right now may bring it back. Earlier summaries stay.
  if exists (
    select from memory.summaries as s
    where s.user_id = delete_message.user_id and s.thread_id = delete_message.thread_id
      and s.kind = 'thread' and s.end_seq >= delete_message.seq
  ) then
    perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
    perform memory._forget_conversation(user_id, thread_id);
  end if;
  for job in
    select j.* from memory.jobs as j
    where j.user_id = delete_message.user_id and j.scope = delete_message.thread_id and j.status = 'running'
    for update
  loop
    perform memory._give_back(job);
  end loop;
  delete from memory.summaries as s
  where s.user_id = delete_message.user_id and s.thread_id = delete_message.thread_id
    and s.end_seq >= delete_message.seq;
  -- What compression put away for one of them would stand in no context any more.
  if found then
    last_covered := (memory._latest_summary(user_id, thread_id, 'thread')).end_seq;
    if exists (
      select from memory.messages as m
      where m.user_id = delete_message.user_id and m.thread_id = delete_message.thread_id
        and not m.is_active and m.summary_id is not null and m.seq > coalesce(last_covered, -1)
    ) then
      perform memory._enqueue(user_id, 'summarize_thread', thread_id, '{"is_forced": true}', 'thread');
    end if;
  end if;
  perform memory._note_deletion(user_id, thread_id);
  return true;
end;
$$;
comment on function memory.delete_message(text, text, bigint) is
'Soft-deletes one message of a thread, for example the last one, and the summaries that cover it; returns whether it '
'was there. Numbering goes on where it was. What jobs have learned from the message stays, and so does a message that '
'compression put away.';
