-- What a context can show of a thread, to one agent or to all. Inlined by the planner, hence no SET clause.
create or replace function memory._active_messages(p_user_id text, p_thread_id text, p_agent_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = p_user_id and m.thread_id = p_thread_id
    and (p_agent_id is null or m.agent_id = p_agent_id)
    and m.is_active and m.expires_at > statement_timestamp();
end;
