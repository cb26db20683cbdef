-- The lifetime of messages; null for ever.
create or replace function memory._message_lifetime(p_policy jsonb)
returns interval
language sql stable parallel safe
begin atomic
  select nullif(p_policy #>> '{messages,expires_after}', 'never')::interval;
end;

-- When a message that is stored now expires.
create or replace function memory._message_expiry(p_policy jsonb)
returns timestamptz
language sql stable parallel safe
begin atomic
  select coalesce(statement_timestamp() + memory._message_lifetime(p_policy), 'infinity');
end;

-- Whether a message is in the last day of its life, or in its second half if it lives less than two days: extraction
-- reads it now, however short its thread. A nightly sweep comes by in that day. Times that only plain SQL can store are
-- not computed with: one such row would stop the sweep of all users.
create or replace function memory._expires_soon(p_created_at timestamptz, p_expires_at timestamptz)
returns boolean
language sql stable parallel safe
begin atomic
  select case
    when memory._is_real_moment(p_created_at) and memory._is_real_moment(p_expires_at) then
      statement_timestamp() >= p_expires_at - least(interval '1 day', (p_expires_at - p_created_at) / 2)
    else false end;
end;
