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
  -- The thread's row first, like every append: two writers of one thread queue up instead of deadlocking.
  perform from memory.threads as t
  where t.user_id = clear_thread.user_id and t.thread_id = clear_thread.thread_id for update;
  if not found then -- messages that appear from now on are someone else's, and so is the lock on their thread
    return 0;
  end if;
  with cleared_messages as (
    update memory.messages as m set is_active = false
    where m.user_id = clear_thread.user_id and m.thread_id = clear_thread.thread_id and m.is_active
    returning m.expires_at
  )
  select count(*) filter (where c.expires_at > statement_timestamp()) into cleared from cleared_messages as c;
  -- Neither a summary nor a model that is reading them right now may bring cleared messages back.
  update memory.messages as m set summary_id = null
  where m.user_id = clear_thread.user_id and m.thread_id = clear_thread.thread_id and not m.is_active and m.summary_id is not null;
  delete from memory.jobs as j
  where j.user_id = clear_thread.user_id and j.scope = clear_thread.thread_id and j.status in ('pending', 'running');
  perform memory._recall_user_summary(user_id, thread_id);
  -- What was archived stays; what is archived from now on is another document.
  update memory.documents as d set source = 'closed_archive'
  where d.user_id = clear_thread.user_id and d.thread_id = clear_thread.thread_id and d.source = 'archive';
  delete from memory.summaries as s where s.user_id = clear_thread.user_id and s.thread_id = clear_thread.thread_id;
  return cleared;
end;
$$;
comment on function memory.clear_thread(text, text) is
'Soft-deletes the messages of a thread and drops its summaries; returns the number of messages cleared that could '
'still be read. An archived conversation stays in the knowledge base; memory.delete_document() removes it. Artifacts '
'stay, too. Numbering goes on where it was. Cleared rows stay readable to administrators until memory.sweep().';
