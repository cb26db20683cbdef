-- Ends the leases of the running jobs of a user, which the caller has locked, and has all open jobs begin anew.
create or replace function memory._restart_jobs(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  job memory.jobs;
begin
  for job in
    select j.* from memory.jobs as j
    where j.user_id = p_user_id and j.status = 'running' and j.kind <> 'parse_artifacts' -- which the caller left alone
  loop
    perform memory._end_unfinished(memory._give_back(job));
  end loop;
  -- A pending job may have left a summary that its next attempt would go on with. Without its input nobody would.
  perform memory._end_unfinished(j) from memory.jobs as j where j.user_id = p_user_id and j.status = 'pending';
  -- The next attempt does not need the payload of this one; the ledger needs the name of the model.
  update memory.jobs as j
  set input = jsonb_strip_nulls(jsonb_build_object('model', j.input -> 'model')), error = null
  where j.user_id = p_user_id and j.status = 'pending' and (j.input <> '{}' or j.error is not null);
end;
$$;
