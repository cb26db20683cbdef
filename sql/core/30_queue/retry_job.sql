create or replace function memory.retry_job(user_id text, job_id bigint)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = retry_job.user_id and j.job_id = retry_job.job_id for update;
  if not found then
    perform memory._refuse('job_id', format('this user has no job %s', coalesce(job_id::text, 'null')),
      'memory.dead_jobs lists the dead ones.', 'P0002');
  elsif job.status in ('running', 'completed') then
    perform memory._refuse('job_id', format('job %s is %s', job_id, job.status),
      'Only a pending or dead job can be tried again.');
  elsif job.status = 'dead' and memory._is_queued(job.user_id, job.kind, job.scope, job.variant) then
    perform memory._refuse('job_id', 'a newer job is doing the same work', 'Nothing needs to be done.', '23505');
  end if;
  update memory.jobs as j
  set status = 'pending', attempts = 0, run_after = statement_timestamp(), finished_at = null,
      calls_entered = 0, tokens_entered = 0, -- the new attempts may enter as many again
      -- The summary that a dead job began stays failed.
      input = case j.status when 'dead' then j.input - 'summary_id' else j.input end
  where j.user_id = job.user_id and j.job_id = job.job_id;
  perform memory._audit('retry_job', jsonb_build_object('job_id', job.job_id, 'kind', job.kind), user_id);
end;
$$;
comment on function memory.retry_job(text, bigint) is
'Puts a dead job back into the queue with all its attempts, or makes a waiting one due at once.';
