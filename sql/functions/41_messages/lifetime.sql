-- How long messages live; null for ever. Immutable, so that the planner parses the built-in '7 days' once: parsing
-- takes longer than all the rest of computing an expiry. Settings change only how PostgreSQL parses negative intervals,
-- which no policy has.
create or replace function memory._message_lifetime(p_policy jsonb)
returns interval
language plpgsql immutable parallel safe
as $$
begin
  return nullif(p_policy #>> '{messages,expires_after}', 'never')::interval;
end;
$$;
