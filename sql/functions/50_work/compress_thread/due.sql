-- A compression goes on until it has covered the whole backlog, also below the threshold, unless a part found the
-- thread too small.
create or replace function memory._compress_thread_due(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when (p_job.input ->> 'is_partial')::boolean and not p_job.result ? 'skipped'
    then jsonb '{"is_forced": true}' end;
end;
$$;
