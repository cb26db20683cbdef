-- Records an administrative call in memory.audit. Details hold names and settings, never content, secrets or keys.
-- p_user_id is the user whose data the call is about. Nothing goes to the server's log, to which PostgreSQL would add
-- the statement with its arguments, such as a key. Only functions with the owner's rights call this function, which
-- runs with its caller's rights, so nobody else can add a row.
create or replace function memory._audit(
  p_function text, p_details jsonb default '{}', p_user_id text default null
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.audit (role, function, user_id, details)
  values (memory._caller(), p_function, p_user_id, p_details);
end;
$$;

-- The role that a session has set, or else the role that has logged in. current_user would not do, because it is the
-- owner in a function with the owner's rights.
create or replace function memory._caller()
returns name
language plpgsql stable parallel safe
as $$
begin
  return coalesce(nullif(current_setting('role'), 'none'), session_user);
end;
$$;
