-- Makes the summary of a user forget a thread that is being cleared or deleted. A summary that was made of no other
-- thread is deleted. A running job that reads the thread, or continues such a summary, starts again without the thread.
create or replace function memory._recall_user_summary(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  is_sole_source boolean;
  job memory.jobs;
begin
  -- Marks are deleted before jobs are locked, in the order of memory.complete_job(). They are deleted once more
  -- afterwards, because the job for which this transaction waited may have set the first mark of the thread.
  delete from memory.marks as k
  where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'summarize_user';
  -- Another session may be claiming the job at this moment, with messages of the thread as its input. The lock waits
  -- until that session commits, so the loop below finds the job running.
  perform from memory.jobs as j
  where j.user_id = p_user_id and j.kind = 'summarize_user' and j.status in ('pending', 'running') for update;
  delete from memory.marks as k
  where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'summarize_user';

  is_sole_source :=
    exists (select from memory.summaries as s
            where s.user_id = p_user_id and s.thread_id = '' and s.status = 'completed')
    and not exists (select from memory.threads as t
                    join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id
                      and k.kind = 'summarize_user'
                    where t.user_id = p_user_id and t.thread_id <> p_thread_id);
  for job in
    select j.* from memory.jobs as j
    where j.user_id = p_user_id and j.kind = 'summarize_user' and j.status = 'running'
      and (is_sole_source or j.input -> 'through' ? p_thread_id)
  loop
    perform memory._give_back(job);
  end loop;
  if is_sole_source then
    delete from memory.summaries as s where s.user_id = p_user_id and s.thread_id = '';
  end if;
end;
$$;
