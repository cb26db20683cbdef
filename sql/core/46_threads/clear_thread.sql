create or replace function memory.clear_thread(user_id text, thread_id text, agent_id text default null)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  cleared bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if not memory._lock_existing_thread(user_id, thread_id) then
    return 0;
  end if;
  cleared := (select count(*) from memory._active_messages(user_id, thread_id, agent_id));
  update memory.messages as m set is_active = false, summary_id = null
  where m.user_id = clear_thread.user_id and m.thread_id = clear_thread.thread_id
    and (clear_thread.agent_id is null or m.agent_id = clear_thread.agent_id)
    and memory._is_kept_message(m.is_active, m.summary_id);
  delete from memory.shown_rounds as r
  where r.user_id = clear_thread.user_id and r.thread_id = clear_thread.thread_id
    and coalesce(clear_thread.agent_id, r.agent_id) = r.agent_id;
  -- A job that is storing a summary may have stored its memory, which nobody sees before the job is completed.
  perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
  perform memory._forget_conversation(user_id, thread_id);
  if agent_id is null then
    -- Removes the thread's jobs and summaries: a job that is reading messages now must not bring them back.
    delete from memory.jobs as j
    where j.user_id = clear_thread.user_id and j.scope = clear_thread.thread_id and j.status in ('pending', 'running');
    perform memory._recall_user_summary(user_id, thread_id);
    delete from memory.summaries as s
    where s.user_id = clear_thread.user_id and s.thread_id = clear_thread.thread_id;
  else
    perform memory._recall_user_summary(user_id, thread_id);
    perform memory._drop_summaries(user_id, thread_id, p_agent_id => agent_id);
  end if;
  -- The archived conversation stays. A later compression makes a new archive.
  perform memory._close_archive(user_id, thread_id);
  perform memory._note_deletion(user_id, array[thread_id]);
  return cleared;
end;
$$;
comment on function memory.clear_thread(text, text, text) is
'Soft-deletes the messages of a thread, with agent_id only those of that agent, and drops the summaries of these '
'messages. Returns the number of cleared messages that could still be read. Numbering goes on where it was. An '
'archived conversation stays in the knowledge base, and a notice says so; memory.delete_document() deletes it. The '
'messages go for good with memory.sweep(), or once policy erasure.delete_after has passed.';

-- Closes the archive of a thread: the document stays, and the next compression archives the thread into a new one.
create or replace function memory._close_archive(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  archive uuid;
begin
  update memory.documents as d set source = 'closed_archive'
  where d.user_id = p_user_id and d.thread_id = p_thread_id and d.source = 'archive'
  returning d.document_id into archive;
  if found then
    raise notice 'the archived conversation of this thread stays in the knowledge base, document %', archive
      using hint = 'memory.delete_document(user_id, document_id) deletes it.';
  end if;
end;
$$;
