create or replace function memory.release_job(
  user_id text, job_id bigint, lease_token uuid, retry_after interval default null, calls jsonb default null
)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._give_back(memory._leased_job(user_id, job_id, lease_token),
    clock_timestamp() + least(greatest(retry_after, '0'), '1 day'), true, p_calls => calls);
end;
$$;
comment on function memory.release_job(text, bigint, uuid, interval, jsonb) is
'Gives a job back without counting the attempt: the provider said 429, or the worker is shutting down. calls are the '
'model calls that the attempt took, for the ledger.';
