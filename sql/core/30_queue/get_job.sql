create or replace function memory.get_job(user_id text, job_id bigint)
returns memory.job
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  found_job memory.job;
begin
  perform memory._check_id('user_id', user_id);
  select j.job_id, j.kind, j.status, j.attempts, j.result, j.error, j.created_at, j.finished_at into found_job
  from memory.jobs as j where j.user_id = get_job.user_id and j.job_id = get_job.job_id;
  if not found then
    perform memory._refuse('job_id', format('this user has no job %s', coalesce(job_id::text, 'null')),
      'Completed jobs are kept for 7 days, dead ones for 30.', 'P0002');
  end if;
  return found_job;
end;
$$;
comment on function memory.get_job(text, bigint) is
'State of a job: pending, running, completed or dead, with its result or its last error.';
