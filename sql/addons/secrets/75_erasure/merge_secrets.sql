-- Gives the secrets of the first user to the second. A secret is sealed for one user and name, so this needs the key.
create or replace function memory._merge_secrets(p_from text, p_into text)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  secret memory.secrets;
  key bytea;
  renamed constant jsonb := memory._new_names(
    array(select s.name from memory.secrets as s where s.user_id = p_from),
    array(select s.name from memory.secrets as s where s.user_id = p_into));
  new_name text;
begin
  for secret in select s.* from memory.secrets as s where s.user_id = p_from order by s.name for update loop
    key := coalesce(key, memory._secret_key());
    new_name := coalesce(renamed ->> secret.name, secret.name);
    insert into memory.secrets (user_id, name, key_id, sealed, created_at, updated_at)
    values (p_into, new_name, memory._secret_key_id(key),
            memory._sealed(key, p_into, new_name, memory._opened(secret)), secret.created_at, secret.updated_at);
    delete from memory.secrets as s where s.user_id = p_from and s.name = secret.name;
  end loop;
  return renamed;
end;
$$;
