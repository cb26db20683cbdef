-- The thread comes first, as for everyone who changes messages. A writer who keeps it does not hold up the worker's other
-- jobs: after two seconds the worker is told to hand its result in again.
create or replace function memory._apply_compression(job memory.jobs, result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
set lock_timeout = '2s'
as $$
declare
  stored memory.summaries;
  first_kept_seq bigint;
  compressed bigint;
begin
  perform from memory.threads as t where t.user_id = job.user_id and t.thread_id = job.scope for no key update;
  if result ? 'skipped' then
    perform from memory.jobs as j where j.user_id = job.user_id and j.job_id = job.job_id for update;
    delete from memory.summaries as s
    where s.user_id = job.user_id and s.summary_id = (job.input ->> 'summary_id')::uuid and s.status = 'processing';
    return jsonb_build_object('skipped', left(result ->> 'skipped', 500));
  end if;
  perform memory._check_summary(result);
  stored := memory._store_summary(job, result);
  -- A part of a long backlog may end between a call and its results. Then the call stays until they have been read.
  first_kept_seq := memory._call_seq(job.user_id, job.scope, (
    select min(m.seq) from memory.messages as m
    where m.user_id = job.user_id and m.thread_id = job.scope and m.seq > stored.end_seq and m.is_active));
  compressed := memory._put_away(stored, coalesce(first_kept_seq, stored.end_seq + 1), (job.input ->> 'archives')::boolean);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq, 'compressed', compressed);
end;
$$;
