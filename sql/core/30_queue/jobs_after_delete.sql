-- Keeps the columns of deleted jobs that memory.record_calls() needs: a worker may still be working on such a job, and
-- report its calls afterwards.
create or replace function memory._jobs_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on gone_jobs
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into memory.gone_jobs (user_id, job_id, kind, agent_id, model, calls_left, tokens_left)
  select o.user_id, o.job_id, o.kind, o.agent_id, o.input ->> 'model',
    memory._allowed_calls(o) - greatest(o.calls_entered, 0), o.tokens_allowed - greatest(o.tokens_entered, 0)
  from old_rows as o
  where o.tokens_allowed > 0 and (o.finished_at is null or o.finished_at > statement_timestamp() - interval '1 day')
  on conflict do nothing;
  return null;
end;
$$;
