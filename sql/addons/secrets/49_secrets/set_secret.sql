create or replace function memory.set_secret(user_id text, name text, value text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set debug_print_plan = off -- every session may have plans sent to itself, and these show a key
as $$
declare
  max_bytes constant int := 65536;
  said bytea;
  key bytea;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('name', name);
  said := memory._unmasked(value, 'value');
  if said is null or said = '' then
    perform memory._refuse('value', 'must not be null or empty', 'memory.delete_secret() removes a secret.');
  elsif octet_length(said) > max_bytes then
    perform memory._refuse_size('value', octet_length(said), max_bytes,
      'A secret is a password, a key or a certificate.');
  end if;
  key := memory._secret_key();
  insert into memory.secrets as s (user_id, name, key_id, sealed)
  values (set_secret.user_id, set_secret.name, memory._secret_key_id(key), memory._sealed(key, user_id, name, said))
  on conflict on constraint secrets_pkey do update
  set key_id = excluded.key_id, sealed = excluded.sealed, updated_at = statement_timestamp();
  if memory._is_space(user_id) then
    perform memory._note_writer(user_id, 'secret', name, true);
  end if;
  perform memory._drop_secret_mask();
end;
$$;
comment on function memory.set_secret(text, text, text) is
'Stores a secret of a user, encrypted, or replaces it; at most 64 KiB. It is never searched, embedded or shown: only '
'memory.get_secret() gives it. Called from psql, the value stands in the statement, which a server may log; the '
'client passes it under a mask.';
