-- Ends the leases of the running jobs of a user, and makes all open jobs begin anew. The caller has locked the jobs.
create or replace function memory._restart_jobs(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  job memory.jobs;
begin
  for job in
    select j.* from memory.jobs as j
    -- The caller has not locked jobs of kind parse_artifacts.
    where j.user_id = p_user_id and j.status = 'running' and j.kind <> 'parse_artifacts'
  loop
    perform memory._end_unfinished(memory._give_back(job));
  end loop;
  -- A pending job may have left a summary for its next attempt to continue. The summary is ended, because the job is
  -- about to lose the input that names it.
  perform memory._end_unfinished(j) from memory.jobs as j where j.user_id = p_user_id and j.status = 'pending';
  -- The next attempt does not need the former payload. The ledger needs the name of the model.
  update memory.jobs as j
  set input = jsonb_strip_nulls(jsonb_build_object('model', j.input -> 'model')), error = null
  where j.user_id = p_user_id and j.status = 'pending' and (j.input <> '{}' or j.error is not null);
end;
$$;
