create or replace function memory.delete_secret(user_id text, name text)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('name', name);
  delete from memory.secrets as s where s.user_id = delete_secret.user_id and s.name = delete_secret.name;
  return found;
end;
$$;
comment on function memory.delete_secret(text, text) is
'Deletes a secret of a user and returns whether it existed. The records of its readings stay.';
