-- An artifact that no model could describe keeps the description that was made by rule, so that the next job takes
-- another one. The job is locked already, and who removes artifacts locks them before jobs. So nobody is waited for: an
-- artifact that somebody holds is left to the next job.
create or replace function memory._describe_artifact_unfinished(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  if p_goes_on then
    return;
  end if;
  update memory.artifacts as a
  set awaits_description = false
  where a.user_id = p_job.user_id and a.key = (
    select f.key from memory.artifacts as f
    where f.user_id = p_job.user_id and f.key = p_job.input ->> 'key' for no key update skip locked);
end;
$$;
