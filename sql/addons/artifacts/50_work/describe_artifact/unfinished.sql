-- If no model could describe an artifact, the artifact keeps the description that a rule made, so that the next job
-- takes another artifact. The job is locked already, but a session that removes artifacts locks them before jobs. So
-- this function waits for nobody: it leaves an artifact that another session holds to the next job.
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
