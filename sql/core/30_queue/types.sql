-- The rows that the functions of the queue return.
create type memory.job as (
  job_id bigint, kind text, status text, attempts int, result jsonb, error text, created_at timestamptz,
  finished_at timestamptz
);
comment on type memory.job is 'A job, as memory.get_job() returns it.';

create type memory.claimed_job as (
  job_id bigint, kind text, user_id text, lease_token uuid, attempt int, payload jsonb
);
comment on type memory.claimed_job is 'A job with all its input, as memory.claim_jobs() hands it to a worker.';
