-- Functions that the kinds of summaries share.

-- Ends the summary that attempts of a job began. If the job is dead, the status of the summary becomes failed. If the
-- job is tried again (p_goes_on), the status is failed until the next attempt takes the summary up. Otherwise the row
-- is deleted, unless another running job has taken it over.
create or replace function memory._end_unfinished_summary(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  begun uuid := (p_job.input ->> 'summary_id')::uuid;
begin
  if p_goes_on or p_job.status = 'dead' then
    update memory.summaries as s set status = 'failed'
    where s.user_id = p_job.user_id and s.summary_id = begun and s.status = 'processing';
    if found then
      raise debug 'Memory % status updated to failed', begun;
    end if;
  else
    delete from memory.summaries as s
    where s.user_id = p_job.user_id and s.summary_id = begun and s.status in ('processing', 'failed')
      and not exists (
        select from memory.jobs as j
        where j.user_id = p_job.user_id and j.scope = p_job.scope and j.status = 'running'
          and j.job_id <> p_job.job_id and j.input ->> 'summary_id' = p_job.input ->> 'summary_id');
  end if;
end;
$$;

-- The newest current message of a thread; null when it has none.
create or replace function memory._newest_seq(p_user_id text, p_thread_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return m.seq from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id
    and memory._is_current_message(m.is_active, m.expires_at)
  order by m.seq desc limit 1;
end;
$$;
