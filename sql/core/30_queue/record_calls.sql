create or replace function memory.record_calls(user_id text, job_id bigint, calls jsonb)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  job memory.jobs;
  gone memory.gone_jobs;
  entered record;
begin
  perform memory._check_user_of_job(user_id);
  select j.* into job from memory.jobs as j
  where j.user_id = record_calls.user_id and j.job_id = record_calls.job_id and j.tokens_allowed > 0 for no key update;
  if found then
    entered := memory._enter_job_calls(job, calls);
    update memory.jobs as j
    set calls_entered = j.calls_entered + entered.number, tokens_entered = j.tokens_entered + entered.tokens
    where j.user_id = job.user_id and j.job_id = job.job_id;
    return;
  end if;
  select g.* into gone from memory.gone_jobs as g
  where g.user_id = record_calls.user_id and g.job_id = record_calls.job_id for update;
  if not found then -- the user may have been forgotten while the worker called the model
    select g.* into gone from memory.gone_jobs as g
    where g.user_id = memory._pseudonym(record_calls.user_id) and g.job_id = record_calls.job_id for update;
  end if;
  if gone.job_id is null then
    perform memory._refuse('job_id',
      format('this user has no job %s that was handed to a worker', coalesce(job_id::text, 'null')),
      'Calls can be entered until 7 days after their job was finished or deleted.', 'P0002');
  end if;
  entered := memory._enter_calls(
    case gone.user_id when record_calls.user_id then gone.user_id else '' end,
    case gone.user_id when record_calls.user_id then gone.job_id end, gone.kind, gone.agent_id, gone.model, calls,
    gone.calls_left, gone.tokens_left);
  update memory.gone_jobs as g
  set calls_left = g.calls_left - entered.number, tokens_left = g.tokens_left - entered.tokens
  where g.user_id = gone.user_id and g.job_id = gone.job_id;
end;
$$;
comment on function memory.record_calls(text, bigint, jsonb) is
'Enters model calls in the ledger for a job whose lease was lost or whose thread was deleted. No more calls and tokens '
'are entered than the job can have taken, with a warning about the rest. Error P0002 when the user had no such job.';
