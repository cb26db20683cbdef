create or replace function memory.clear_thread(user_id text, thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  cleared bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if not memory._lock_existing_thread(user_id, thread_id) then
    return 0;
  end if;
  cleared := memory._clear_messages(user_id, thread_id);
  -- A job that is storing a summary may have stored its memory, which nobody sees before the job is completed.
  perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
  perform memory._forget_conversation(user_id, thread_id);
  -- Neither a summary nor a job that is reading the messages right now may bring them back.
  delete from memory.jobs as j
  where j.user_id = clear_thread.user_id and j.scope = clear_thread.thread_id and j.status in ('pending', 'running');
  perform memory._recall_user_summary(user_id, thread_id);
  -- The archived conversation stays. What is archived from now on goes into a new document.
  update memory.documents as d set source = 'closed_archive'
  where d.user_id = clear_thread.user_id and d.thread_id = clear_thread.thread_id and d.source = 'archive';
  delete from memory.summaries as s
  where s.user_id = clear_thread.user_id and s.thread_id = clear_thread.thread_id;
  perform memory._note_deletion(user_id, thread_id);
  return cleared;
end;
$$;
comment on function memory.clear_thread(text, text) is
'Soft-deletes the messages of a thread and drops its summaries; returns the number of messages cleared that could '
'still be read. Numbering goes on where it was. The messages go for good with memory.sweep(), or once policy '
'erasure.delete_after has passed.';

-- Soft-deletes the messages of a thread, and returns how many of them were current. Messages that compression put away
-- lose their summary_id, because jobs may read messages that have one.
create or replace function memory._clear_messages(p_user_id text, p_thread_id text)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  cleared bigint;
begin
  with cleared_messages as (
    update memory.messages as m set is_active = false
    where m.user_id = p_user_id and m.thread_id = p_thread_id and m.is_active
    returning m.expires_at
  )
  select count(*) filter (where memory._is_current_message(true, c.expires_at)) into cleared from cleared_messages as c;
  update memory.messages as m set summary_id = null
  where m.user_id = p_user_id and m.thread_id = p_thread_id and not m.is_active and m.summary_id is not null;
  return cleared;
end;
$$;
