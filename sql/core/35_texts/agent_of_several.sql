-- The agent of a text in memory.texts: null for a text of no agent, empty for a text of several.
create or replace function memory._agent_of_several(p_agent_ids text[])
returns text
language sql immutable parallel safe
begin atomic
  select case cardinality(p_agent_ids) when 0 then null when 1 then p_agent_ids[1] else '' end;
end;
