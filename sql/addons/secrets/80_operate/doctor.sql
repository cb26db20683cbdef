-- The doctor's check of secrets: whether secrets can be stored and read. The function compares the keys with the names
-- of keys that secrets carry, and decrypts nothing.
create or replace function memory._secrets_doctor(out check_name text, out ok boolean, out detail text)
language plpgsql volatile parallel unsafe
set debug_print_plan = off -- for the reason given in memory.set_secret()
as $$
declare
  key constant bytea := memory._given_key('AGENT_MEMORY_SECRET_KEY');
  previous constant bytea := memory._given_key('AGENT_MEMORY_SECRET_KEY_PREVIOUS');
  reencrypt constant text := 'call memory.reencrypt_secrets() until it returns 0';
  wrong text;
  stored record;
begin
  check_name := 'secrets';
  perform memory._drop_secret_mask();
  select coalesce(sum(k.secrets), 0) as secrets, count(*) as keys,
    coalesce(sum(k.secrets) filter (where k.key_id = memory._secret_key_id(key)), 0) as current,
    coalesce(sum(k.secrets) filter (where k.key_id = memory._secret_key_id(previous)), 0) as old
  into stored
  from (select s.key_id, count(*) as secrets from memory.secrets as s group by s.key_id) as k;
  select string_agg(k.variable, ' and ' order by k.variable) into wrong
  from (values ('AGENT_MEMORY_SECRET_KEY', key), ('AGENT_MEMORY_SECRET_KEY_PREVIOUS', previous)) as k (variable, key)
  where octet_length(k.key) <> 32;

  ok := false;
  detail := stored.secrets || ' stored';
  if wrong is not null then
    detail := detail || format(', but %s is not 32 bytes in base64, so none can be stored or read: set it to the key '
      'that secrets were stored under, or to a new one of "openssl rand -base64 32" if there are none', wrong);
  elsif not exists (select from pg_extension as e where e.extname = 'pgcrypto') then
    ok := stored.secrets = 0;
    detail := detail || '; the extension that encrypts is missing: run "create extension pgcrypto" if you need secrets';
  elsif stored.secrets = 0 then
    ok := true;
  elsif key is null and memory._has_runner() then
    detail := detail || ', but AGENT_MEMORY_SECRET_KEY is not set: set it in the environment of the PostgreSQL server '
      'to the key that they were stored under, and restart the server';
  elsif key is null then
    ok := stored.keys = 1;
    detail := detail || format(' under %s %s that the server does not know', stored.keys,
      case stored.keys when 1 then 'key' else 'keys' end)
      || case when ok then '; "agent-memory doctor" compares them with the key in its environment'
           else ': where AGENT_MEMORY_SECRET_KEY and AGENT_MEMORY_SECRET_KEY_PREVIOUS are set, ' || reencrypt end;
  elsif stored.secrets > stored.current + stored.old then
    detail := detail || format(', of which %s cannot be opened by the present key: set '
      'AGENT_MEMORY_SECRET_KEY_PREVIOUS to the key that they were stored under, then %s',
      stored.secrets - stored.current - stored.old, reencrypt);
  elsif stored.current < stored.secrets then
    detail := detail || format(', of which %s are under AGENT_MEMORY_SECRET_KEY_PREVIOUS: %s', stored.old, reencrypt);
  else
    ok := true;
    detail := detail || ', all under the present key'
      || case when previous is null then '' else '; AGENT_MEMORY_SECRET_KEY_PREVIOUS can go' end;
  end if;
end;
$$;
