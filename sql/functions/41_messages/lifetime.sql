-- How long messages live; null for ever. Immutable, so that the planner reads the built-in '7 days' once: to read it
-- takes longer than everything else that an expiry needs. The settings that change how PostgreSQL reads an interval
-- concern negative intervals only, which no policy has.
create or replace function memory._message_lifetime(p_policy jsonb)
returns interval
language plpgsql immutable parallel safe
as $$
begin
  return nullif(p_policy #>> '{messages,expires_after}', 'never')::interval;
end;
$$;
