-- Locks a space that is to be forgotten: waits for the transactions that write in the space, and lets later ones wait.
create or replace function memory._lock_space(p_user_id text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- Takes a user out of all spaces, and with p_forgets also removes what the user wrote there; returns the number of
-- removed rows by table.
create or replace function memory._leave_spaces(p_user_id text, p_forgets boolean)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;

-- When user p_from is merged into p_into: new keys for those artifacts of p_from whose keys p_into has already, by old
-- key.
create or replace function memory._new_keys(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;

-- When user p_from is merged into p_into: gives the secrets of p_from to p_into. Returns new names for those secrets
-- whose names p_into has already, by old name.
create or replace function memory._merge_secrets(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;
