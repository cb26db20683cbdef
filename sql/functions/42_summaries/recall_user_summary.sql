-- A thread is cleared or deleted: a summary of the user to which no other thread contributed goes with it, and a model
-- that is reading the thread, or going on from such a summary, starts again without it. Marks come before jobs, as in
-- memory.complete_job(), and once more after them: the job that made the first may have been waited for.
create or replace function memory._recall_user_summary(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  is_sole_source boolean;
  job memory.jobs;
begin
  delete from memory.marks as k
  where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'summarize_user';
  -- A claim under way may be handing the thread out just now: it is waited for, and then seen.
  perform from memory.jobs as j
  where j.user_id = p_user_id and j.kind = 'summarize_user' and j.status in ('pending', 'running') for update;
  delete from memory.marks as k
  where k.user_id = p_user_id and k.scope = p_thread_id and k.kind = 'summarize_user';
  is_sole_source := exists (select from memory.summaries as s where s.user_id = p_user_id and s.thread_id = '' and s.status = 'completed')
    and not exists (select from memory.threads as t join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'summarize_user'
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
