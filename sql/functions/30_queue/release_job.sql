create or replace function memory.release_job(user_id text, job_id bigint, lease_token uuid, retry_after interval default null, calls jsonb default null)
returns void
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  update memory.jobs as j
  set status = 'pending', attempts = j.attempts - 1, run_after = clock_timestamp() + least(greatest(retry_after, '0'), '1 day'),
      is_delayed = true,
      tokens_reserved = 0, lease_token = null, lease_expires_at = null
  where j.user_id = release_job.user_id and j.job_id = release_job.job_id and j.lease_token = release_job.lease_token and j.status = 'running'
  returning j.* into job;
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  perform memory._enter_calls(job, coalesce(calls, '[]'));
end;
$$;
comment on function memory.release_job(text, bigint, uuid, interval, jsonb) is
'Gives a job back without counting the attempt: the provider said 429, or the worker is shutting down. calls are the model calls it took all the same, for the ledger.';
