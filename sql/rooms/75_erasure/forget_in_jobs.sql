-- Removes forgotten texts from the jobs of a user, which the caller has locked. Running jobs may have been handed the
-- forgotten texts: they lose their leases, so that their results are refused (AM001), and are handed out again without
-- them. Finished jobs that show any of it go.
create or replace function memory._forget_in_jobs(p_user_id text, p_memory_ids uuid[], p_wordings text[])
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  removed bigint;
begin
  perform memory._restart_jobs(p_user_id);
  delete from memory.jobs as j
  where j.user_id = p_user_id and j.finished_at is not null -- by status it would read the finished jobs of all users
    and (memory._json_states_any(jsonb_build_array(j.request, j.input, j.result, j.error), p_wordings)
      or exists (
        select from unnest(p_memory_ids) as i (id)
        where strpos(concat_ws(' ', j.request, j.input, j.result, j.error), i.id::text) > 0));
  get diagnostics removed = row_count;
  return case when removed > 0 then jsonb_build_object('jobs', removed) else jsonb '{}' end;
end;
$$;

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
