-- A lease is the right of one worker to a running job until jobs.lease_expires_at. memory.claim_jobs() gives the lease
-- and the lease_token that names it; memory.extend_job() prolongs it; completing, failing or releasing the job ends it.
-- When a lease runs out, the next claim takes the job back, and the worker's result is refused (AM001).

-- Refuses a lease of more than a year, or of no time. No call lasts a year, and a lease of a million years would end
-- after the last date that PostgreSQL has.
create or replace function memory._check_lease(p_lease interval)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_lease > '0' and p_lease <= '1 year') is not true then
    perform memory._refuse('lease', 'must be a positive interval of at most a year',
      'It counts from now and should outlast one model call; memory.extend_job() prolongs it.');
  end if;
end;
$$;

-- Refuses a call for a job whose lease the caller does not have.
create or replace function memory._refuse_lease(p_job_id bigint)
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('lease_token', format('job %s is not yours (any more)', coalesce(p_job_id::text, 'null')),
    'Its lease ran out or it was finished; drop the result and claim again.', 'AM001');
end;
$$;

-- The job of a lease, not locked; AM001 when the lease is lost.
create or replace function memory._leased_job(p_user_id text, p_job_id bigint, p_lease_token uuid)
returns memory.jobs
language plpgsql stable parallel safe
as $$
declare
  job memory.jobs;
begin
  perform memory._check_user_of_job(p_user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = p_user_id and j.job_id = p_job_id and j.lease_token = p_lease_token and j.status = 'running';
  if not found then
    perform memory._refuse_lease(p_job_id);
  end if;
  return job;
end;
$$;

-- Ends the lease of a job, enters the calls of the attempt in the ledger, and returns the new row of the job; raises
-- AM001 when the lease is lost. Without p_run_after the job keeps its run_after.
create or replace function memory._end_lease(
  p_job memory.jobs, p_status text, p_attempts int, p_error text, p_result jsonb default null,
  p_run_after timestamptz default null, p_is_delayed boolean default false, p_calls jsonb default null
)
returns memory.jobs
language plpgsql volatile parallel unsafe
as $$
declare
  entered record;
  ended memory.jobs;
begin
  entered := memory._enter_job_calls(
    p_job, coalesce(p_calls, '[]'), coalesce(p_result -> 'refusals', memory._refusal_in(p_error)));
  update memory.jobs as j
  set status = p_status, attempts = p_attempts, error = p_error, result = p_result,
      run_after = coalesce(p_run_after, j.run_after), is_delayed = p_is_delayed,
      finished_at = case when p_status in ('completed', 'dead') then clock_timestamp() end,
      tokens_reserved = 0, lease_token = null, lease_expires_at = null,
      calls_entered = j.calls_entered + entered.number, tokens_entered = j.tokens_entered + entered.tokens
  -- Only running jobs have a lease_token, so the condition needs no status. With a condition on status the planner may
  -- take the index of running jobs, in which each job that a claim has ended leaves an entry until the claim commits.
  where j.user_id = p_job.user_id and j.job_id = p_job.job_id and j.lease_token = p_job.lease_token
  returning j.* into ended;
  if not found then
    perform memory._refuse_lease(p_job.job_id);
  end if;
  return ended;
end;
$$;

-- Ends the lease of an attempt that does not count, and makes the job pending again.
create or replace function memory._give_back(
  p_job memory.jobs, p_run_after timestamptz default null, p_is_delayed boolean default false,
  p_error text default null, p_calls jsonb default null
)
returns memory.jobs
language plpgsql volatile parallel unsafe
as $$
begin
  return memory._end_lease(p_job, 'pending', p_job.attempts - 1, coalesce(p_error, p_job.error),
                           p_run_after => p_run_after, p_is_delayed => p_is_delayed, p_calls => p_calls);
end;
$$;

-- Ends the lease of a failed attempt and returns the new status: pending, or dead after the last attempt. Without
-- p_calls the attempt is entered in the ledger as one call of unknown size.
create or replace function memory._fail_attempt(
  p_job memory.jobs, p_error text, p_run_after timestamptz default null, p_calls jsonb default null
)
returns text
language plpgsql volatile parallel unsafe
as $$
begin
  p_job := memory._end_lease(
    p_job, case when p_job.attempts < p_job.max_attempts then 'pending' else 'dead' end, p_job.attempts, p_error,
    p_run_after => p_run_after, p_is_delayed => p_run_after is not null,
    p_calls => coalesce(p_calls, jsonb_build_array(jsonb_build_object('error', p_error))));
  perform memory._end_unfinished(p_job, p_job.status <> 'dead');
  if p_job.status = 'dead' then
    perform memory._enqueue_next(p_job);
  end if;
  return p_job.status;
end;
$$;
