-- Another job follows while artifacts of the user wait for a description.
create or replace function memory._describe_artifact_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when exists (
    select from memory._current_artifacts(p_job.user_id) as a where a.awaits_description) then jsonb '{}' end;
end;
$$;
