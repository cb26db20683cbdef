-- Another job follows until the whole backlog is covered. An automatic rolling summary ends here if the remaining
-- messages need none (policy summary.when needed).
create or replace function memory._summarize_thread_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  policy jsonb;
begin
  if (p_job.input ->> 'is_partial')::boolean is not true then
    return null;
  end if;
  policy := memory._policy(p_job.user_id, p_job.agent_id);
  if p_job.input ->> 'chain' = 'rolling' and not p_job.request ? 'is_forced'
    and policy #>> '{summary,when}' = 'needed' and not memory._needs_summary(
      policy, memory._active_tokens(p_job.user_id, p_job.scope),
      memory._tokens_since_summary(p_job.user_id, p_job.scope)) then
    return null;
  end if;
  return jsonb '{"is_forced": true}';
end;
$$;
