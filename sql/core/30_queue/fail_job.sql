create or replace function memory.fail_job(
  user_id text, job_id bigint, lease_token uuid, error text, retry_after interval default null, calls jsonb default null
)
returns text
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  job := memory._leased_job(user_id, job_id, lease_token);
  error := memory._masked_note(user_id, job.agent_id, left(error, 10000));
  -- After an upgrade a worker of the former version may claim a job of a kind that only this version knows, and say so.
  -- Such an attempt does not count, and a worker of this version does the job.
  if fail_job.error like 'unknown kind of job%' then
    perform memory._give_back(job, clock_timestamp() + interval '10 seconds', true, fail_job.error);
    return 'pending';
  end if;
  -- The waits are 10 s, 40 s, 160 s and 640 s, plus up to a quarter, so that jobs that failed together do not return
  -- together. A provider's own retry_after counts up to one day.
  return memory._fail_attempt(
    job, coalesce(fail_job.error, 'no reason given'),
    clock_timestamp() + case when retry_after is null
      then interval '10 seconds' * 4 ^ (job.attempts - 1) * (1 + random() / 4)
      else least(greatest(retry_after, '0'), '1 day') end,
    calls);
end;
$$;
comment on function memory.fail_job(text, bigint, uuid, text, interval, jsonb) is
'Records a failed attempt with its reason and returns the new status of the job. The job is tried again after '
'retry_after (default: 10 seconds, times 4 with each attempt); after its last attempt it is dead (memory.dead_jobs). '
'An attempt that ended with "unknown kind of job" does not count.';
