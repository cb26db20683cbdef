-- Whether rules look for attacks in a message: a tool or the assistant wrote it, or the application has said how far to
-- trust it. What a user writes is the user's own.
create or replace function memory._is_judged(p_role text, p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_role in ('tool', 'assistant') or p_metadata ? 'trust';
end;
