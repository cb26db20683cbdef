create or replace function memory.release_job(user_id text, job_id bigint, lease_token uuid, retry_after interval default null)
returns void
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  update memory.jobs as j
  set status = 'pending', attempts = j.attempts - 1, run_after = clock_timestamp() + least(greatest(retry_after, '0'), '1 day'),
      lease_token = null, lease_expires_at = null
  where j.user_id = release_job.user_id and j.job_id = release_job.job_id and j.lease_token = release_job.lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
end;
$$;
comment on function memory.release_job(text, bigint, uuid, interval) is
'Gives a job back without counting the attempt: the provider said 429, or the worker is shutting down.';
