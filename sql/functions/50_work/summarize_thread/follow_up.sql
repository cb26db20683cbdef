-- Another job follows until the whole backlog is covered, even when no summary would be due by then.
create or replace function memory._summarize_thread_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when (p_job.input ->> 'is_partial')::boolean then jsonb '{"is_forced": true}' end;
end;
$$;
