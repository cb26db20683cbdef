-- Whether rules look for attacks in a message. They do if a tool or the assistant wrote it, or if the application has
-- said how far to trust it. Rules do not judge what a user writes.
create or replace function memory._is_judged(p_role text, p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_role in ('tool', 'assistant') or p_metadata ? 'trust';
end;
