-- How far a message is trusted, from 0 to 1, by its role: what the user and the application say 1, an assistant 0.8, a
-- tool 0.4. metadata.trust can lower that, for an email that an application stores under the role user. Nothing is
-- stored: a column would cost every message its room, and the role of a message does not change.

-- The trust that metadata claims, null when it claims none. Whoever writes metadata may lower the trust of a row, never
-- raise it. The planner inlines this function; a SET clause would prevent that.
create or replace function memory._lowered(p_metadata jsonb)
returns double precision
language sql immutable parallel safe
begin atomic
  select case
    when p_metadata ? 'trust' and p_metadata -> 'trust' between jsonb '0' and jsonb '1'
      then (p_metadata ->> 'trust')::double precision
  end;
end;

-- Inlined by the planner, hence no SET clause.
create or replace function memory._message_trust(p_role text, p_metadata jsonb)
returns double precision
language sql immutable parallel safe
begin atomic
  select least(case p_role when 'tool' then 0.4 when 'assistant' then 0.8 else 1.0 end, memory._lowered(p_metadata));
end;
