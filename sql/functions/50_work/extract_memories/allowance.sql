-- How many memories models may still extract for an agent on this UTC day.
create or replace function memory._extractable_today(p_user_id text, p_agent_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return greatest(0, (memory._policy(p_user_id,
    p_agent_id) #>> '{memories,max_extracted_per_day}')::bigint
    - coalesce((select s.extracted_count from memory.memory_scopes as s
                where s.user_id = p_user_id and s.agent_id = p_agent_id
                  and s.extracted_on = (statement_timestamp() at time zone 'UTC')::date), 0));
end;
$$;
