-- Records an administrative call in memory.audit. Details hold names and settings, never content, secrets or keys.
-- p_user_id is the user whose data the call is about. Nothing goes to the server's log: PostgreSQL adds the statement
-- to such a line, with the arguments that stand in it, such as the key of memory.set_token_key(). Only functions with
-- the owner's rights call this function, which runs with its caller's rights, so nobody else can add a row.
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

-- The role that a session has set, or else the one that logged in. In a function with the owner's rights current_user
-- is the owner.
create or replace function memory._caller()
returns name
language plpgsql stable parallel safe
as $$
begin
  return coalesce(nullif(current_setting('role'), 'none'), session_user);
end;
$$;
