-- How many more memories models may extract for an agent on this UTC day. p_settings: the policy's section "memories".
create or replace function memory._extractable_today(p_user_id text, p_agent_id text, p_settings jsonb)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return greatest(0, (p_settings ->> 'max_extracted_per_day')::bigint - coalesce((
    select s.extracted_count from memory.memory_scopes as s
    where s.user_id = p_user_id and s.agent_id = p_agent_id
      and s.extracted_on = memory._day_of(statement_timestamp())), 0));
end;
$$;
