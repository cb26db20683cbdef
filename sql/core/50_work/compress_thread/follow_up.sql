-- Another job follows until the whole backlog is covered, even if the thread is below the threshold by then. No job
-- follows a job that found the thread too small.
create or replace function memory._compress_thread_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when (p_job.input ->> 'is_partial')::boolean and not p_job.result ? 'skipped'
    then jsonb '{"is_forced": true}' end;
end;
$$;
