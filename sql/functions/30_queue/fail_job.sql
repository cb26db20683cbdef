create or replace function memory.fail_job(user_id text, job_id bigint, lease_token uuid, error text, retry_after interval default null, calls jsonb default null)
returns text
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  -- 10 s, 40 s, 160 s, 640 s, plus up to a quarter so that jobs that failed together do not return together.
  -- What a provider asks for is taken with care: a day at most.
  update memory.jobs as j
  set status = case when j.attempts < j.max_attempts then 'pending' else 'dead' end,
      finished_at = case when j.attempts < j.max_attempts then null else clock_timestamp() end,
      run_after = clock_timestamp() + case when retry_after is null
        then interval '10 seconds' * 4 ^ (j.attempts - 1) * (1 + random() / 4)
        else least(greatest(retry_after, '0'), '1 day') end,
      is_delayed = true,
      error = left(coalesce(fail_job.error, 'no reason given'), 10000), tokens_reserved = 0, lease_token = null, lease_expires_at = null
  where j.user_id = fail_job.user_id and j.job_id = fail_job.job_id and j.lease_token = fail_job.lease_token and j.status = 'running'
  returning j.* into job;
  if not found then
    perform memory._refuse_lease(job_id);
  end if;
  perform memory._enter_calls(job, coalesce(calls, jsonb_build_array(jsonb_build_object('error', job.error))));
  perform memory._after_failure(job);
  return job.status;
end;
$$;
comment on function memory.fail_job(text, bigint, uuid, text, interval, jsonb) is
'Records a failed attempt with its reason. The job is tried again after retry_after (default: 10 seconds, times 4 with each attempt); after its last attempt it is dead, visible in memory.dead_jobs. calls are the model calls it took, for the ledger. Returns the new status.';

-- A job that will not be tried again takes its summary row with it, and lets go of its scope.
create or replace function memory._after_failure(p_job memory.jobs)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_job.status = 'dead' then
    update memory.summaries as s set status = 'failed'
    where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid and s.status = 'processing';
    perform memory._enqueue_next(p_job);
  end if;
end;
$$;
