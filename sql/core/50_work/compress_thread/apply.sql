-- Stores the summary and soft-deletes the messages that it covers, unless the summary does not rest on them. The thread
-- is locked first, as in every function that changes messages. A session that keeps this lock must not hold up the
-- worker's other jobs: after two seconds the worker gets 55P03 and hands the result in again.
create or replace function memory._compress_thread_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
set lock_timeout = '2s'
as $$
declare
  read_before constant bigint := (p_job.input ->> 'covers_through')::bigint + 1;
  stored memory.summaries;
  first_kept_seq bigint;
  compressed bigint;
begin
  if not p_result ? 'skipped' then -- before the lock, because comparing long texts takes time
    perform memory._check_summary(p_job, p_result);
    p_result := memory._evident_summary(p_job, p_result);
  end if;
  perform from memory.threads as t
  where t.user_id = p_job.user_id and t.thread_id = p_job.scope for no key update;
  if p_result ? 'skipped' then
    perform from memory.jobs as j where j.user_id = p_job.user_id and j.job_id = p_job.job_id for update;
    delete from memory.summaries as s
    where s.user_id = p_job.user_id and s.summary_id = (p_job.input ->> 'summary_id')::uuid
      and s.status = 'processing';
    return jsonb_build_object('skipped', left(p_result ->> 'skipped', 500));
  end if;
  perform memory._remember_conversation(p_job, p_result);
  stored := memory._store_summary(p_job, p_result);
  -- The summarised part of a long backlog may end between a call of a tool and the results. Then the call stays until a
  -- later job has read the results.
  first_kept_seq := memory._call_seq(p_job.user_id, p_job.scope, (
    select m.seq from memory.messages as m
    where m.user_id = p_job.user_id and m.thread_id = p_job.scope
      and m.seq >= coalesce(read_before, stored.end_seq + 1) and m.is_active
    order by m.seq limit 1));
  compressed := memory._put_away(
    stored, coalesce(first_kept_seq, read_before, stored.end_seq + 1), (p_job.input ->> 'archives')::boolean);
  return jsonb_build_object('summary_id', stored.summary_id, 'start_seq', stored.start_seq, 'end_seq', stored.end_seq,
                            'compressed', compressed, 'refusals', p_result -> 'refusals');
end;
$$;
