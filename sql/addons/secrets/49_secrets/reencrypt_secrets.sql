create or replace function memory.reencrypt_secrets(batch_size int default 1000)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set debug_print_plan = off -- every session may have plans sent to itself, and these show a key
as $$
declare
  key bytea;
  previous bytea;
  stored memory.secrets;
  done bigint := 0;
begin
  if (batch_size >= 1) is not true then
    perform memory._refuse('batch_size', format('%s is less than 1', coalesce(batch_size::text, 'null')),
      'It bounds how many secrets one call encrypts again.');
  end if;
  key := memory._secret_key();
  previous := memory._secret_key_of('AGENT_MEMORY_SECRET_KEY_PREVIOUS');
  if previous is null then
    perform memory._refuse('AGENT_MEMORY_SECRET_KEY_PREVIOUS', 'is not set',
      'Set it to the key that AGENT_MEMORY_SECRET_KEY replaces.', '0A000');
  elsif previous <> key then
    for stored in
      select s.* from memory.secrets as s
      where s.key_id = memory._secret_key_id(previous) limit batch_size for update skip locked
    loop
      update memory.secrets as s
      set key_id = memory._secret_key_id(key),
          sealed = memory._sealed(key, s.user_id, s.name, memory._opened(stored))
      where s.user_id = stored.user_id and s.name = stored.name;
      done := done + 1;
    end loop;
  end if;
  perform memory._audit('reencrypt_secrets', jsonb_build_object('secrets', done));
  perform memory._drop_secret_mask();
  return done;
end;
$$;
comment on function memory.reencrypt_secrets(int) is
'Encrypts up to batch_size secrets anew that are under AGENT_MEMORY_SECRET_KEY_PREVIOUS, and returns how many. Call it '
'until it returns 0; then the previous key can go. For administrators.';
