-- Locks a space before it is forgotten: waits for the transactions that write in the space, and makes later ones wait.
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

-- When user p_from is merged into p_into: new keys, by old key, for the artifacts of p_from whose keys p_into also has.
create or replace function memory._new_keys(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;

-- When user p_from is merged into p_into: gives the secrets of p_from to p_into. Returns new names, by old name, for
-- the secrets whose names p_into also has.
create or replace function memory._merge_secrets(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;
