create or replace function memory.get_secret(user_id text, name text)
returns text
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set debug_print_plan = off -- every session may have plans sent to itself, and these show a key
as $$
declare
  reader constant text := memory._caller();
  stored memory.secrets;
  value bytea;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('name', name);
  select s.* into stored from memory.secrets as s where s.user_id = get_secret.user_id and s.name = get_secret.name;
  if not found then
    perform memory._refuse('name', format('this user has no secret "%s"', name),
      'memory.list_secrets(user_id) lists the names.', 'P0002');
  end if;
  value := memory._opened(stored);
  insert into memory.secret_reads (user_id, name, role) values (get_secret.user_id, get_secret.name, reader);
  -- If the caller rolls the transaction back, the row is lost, but this line of the server's log stays. A keyed hash
  -- stands for the user, because the log outlives memory.forget_user(). PostgreSQL adds the statement to the line,
  -- without the values that are passed as parameters.
  raise log 'a secret of user % was read by role %', memory._pseudonym(user_id), memory._in_a_line(reader);
  perform memory._drop_secret_mask();
  return convert_from(value, 'UTF8');
end;
$$;
comment on function memory.get_secret(text, text) is
'The value of a secret of a user. Error P0002 when there is none of that name. Each reading is recorded in '
'memory.secret_reads and in the server''s log. Grant it only to roles that use secrets.';
