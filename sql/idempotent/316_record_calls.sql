create or replace function memory.record_calls(user_id text, job_id bigint, calls jsonb)
returns void
language plpgsql volatile parallel unsafe security definer -- workers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
begin
  perform memory._check_id('user_id', user_id);
  select j.* into job from memory.jobs as j where j.user_id = record_calls.user_id and j.job_id = record_calls.job_id;
  -- The job may be gone with its thread; then the calls say of themselves what they were.
  perform memory._enter_calls(user_id, job_id, job.kind, job.agent_id, job.input ->> 'model', calls);
end;
$$;
comment on function memory.record_calls(text, bigint, jsonb) is
'Enters model calls in the ledger for a job that is not the worker''s any more: its lease was lost, but the calls were made.';
