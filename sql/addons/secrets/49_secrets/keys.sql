-- The keys of secrets: 32 random bytes each, in base64. The current key encrypts and decrypts, the previous key only
-- decrypts.
--
-- A server with PL/Python reads the keys from its own environment, which only an administrator can set, and accepts no
-- other key. On other servers the caller passes the keys for one transaction, from the environment of the application:
--   select set_config('agent_memory.secret_key', '…', true);
-- A key must stand neither in a table, which dumps contain, nor in a setting of a role, a database or the server, which
-- every role can show.

-- The key that encrypts. Raises an error when there is none.
create or replace function memory._secret_key()
returns bytea
language plpgsql volatile parallel unsafe
as $$
declare
  key constant bytea := memory._secret_key_of('AGENT_MEMORY_SECRET_KEY');
begin
  if key is null then
    perform memory._refuse('AGENT_MEMORY_SECRET_KEY', 'is not set, so secrets can be neither stored nor read',
      'Set it in the environment of the PostgreSQL server to 32 random bytes in base64 ("openssl rand -base64 32") and '
      'restart the server. A server without PL/Python does not see it: there set it in the environment of the client, '
      'which passes it on. See docs/secrets.md.', '0A000');
  end if;
  return key;
end;
$$;

-- The key in this variable, or null when nobody has set it. p_variable is AGENT_MEMORY_SECRET_KEY or
-- AGENT_MEMORY_SECRET_KEY_PREVIOUS.
create or replace function memory._secret_key_of(p_variable text)
returns bytea
language plpgsql volatile parallel unsafe
as $$
declare
  key constant bytea := memory._given_key(p_variable);
begin
  if octet_length(key) <> 32 then
    perform memory._refuse(p_variable, 'is not 32 bytes in base64', 'Make one with "openssl rand -base64 32".');
  end if;
  return key;
end;
$$;

-- The bytes in this variable, which need not be a key; '' if the variable is not base64, null if nobody has set it. If
-- the server has a key, the caller's keys do not count: otherwise a caller could store secrets that nobody else can
-- read.
create or replace function memory._given_key(p_variable text)
returns bytea
language plpgsql volatile parallel unsafe
as $$
declare
  setting constant text := lower(replace(p_variable, 'AGENT_MEMORY_', 'agent_memory.'));
begin
  if memory._server_variable('AGENT_MEMORY_SECRET_KEY') is not null then
    return memory._decoded(memory._server_variable(p_variable), 'base64');
  end if;
  return memory._decoded(convert_from(memory._unmasked(current_setting(setting, true), setting), 'UTF8'), 'base64');
end;
$$;

-- The id by which memory.secrets names a key.
create or replace function memory._secret_key_id(p_key bytea)
returns bytea
language plpgsql immutable parallel safe
as $$
begin
  return substr(sha256('agent_memory key id'::bytea || p_key), 1, 8);
end;
$$;
