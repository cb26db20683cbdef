-- What a context can show of a thread, to one agent or to all. Inlined by the planner, hence no SET clause.
create or replace function memory._active_messages(user_id text, thread_id text, agent_id text)
returns setof memory.messages
language sql stable parallel safe
begin atomic
  select m.* from memory.messages as m
  where m.user_id = _active_messages.user_id and m.thread_id = _active_messages.thread_id
    and (_active_messages.agent_id is null or m.agent_id = _active_messages.agent_id)
    and m.is_active and m.expires_at > statement_timestamp();
end;
