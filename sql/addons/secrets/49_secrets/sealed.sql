-- Encrypts secrets: AES-256-CBC under a random initialisation vector, then HMAC-SHA256 over the user, the name and the
-- result. So a changed row does not decrypt, and neither does a row that was copied to another user or name.
-- pgp_sym_encrypt() of pgcrypto would not do, because its inner SHA-1 has no key and covers only the value.

-- The schema of pgcrypto, quoted. pgcrypto may be in any schema, so its functions are called by EXECUTE.
create or replace function memory._pgcrypto()
returns text
language plpgsql stable parallel safe
as $$
declare
  place text;
begin
  select quote_ident(n.nspname) into place
  from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = 'pgcrypto';
  if place is null then
    perform memory._refuse('pgcrypto', 'this database does not have the extension that encrypts secrets',
      'Run "create extension pgcrypto" (on Debian it comes with postgresql-NN). All else works without it.', '0A000');
  end if;
  return place;
end;
$$;

-- HMAC-SHA256 (RFC 2104).
create or replace function memory._hmac(p_key bytea, p_said bytea)
returns bytea
language plpgsql stable parallel safe
as $$
declare
  mac bytea;
begin
  execute format('select %s.hmac($1, $2, ''sha256'')', memory._pgcrypto()) into mac using p_said, p_key;
  return mac;
end;
$$;

-- The code that authenticates a sealed value. The code includes lengths, so that two pairs of user and name differ even
-- if they read alike when joined.
create or replace function memory._secret_code(p_key bytea, p_user_id text, p_name text, p_encrypted bytea)
returns bytea
language plpgsql stable parallel safe
as $$
declare
  owner constant bytea := convert_to(p_user_id, 'UTF8');
  name constant bytea := convert_to(p_name, 'UTF8');
begin
  return memory._hmac(memory._hmac(p_key, 'authenticate'),
    int4send(octet_length(owner)) || owner || int4send(octet_length(name)) || name || p_encrypted);
end;
$$;

create or replace function memory._sealed(p_key bytea, p_user_id text, p_name text, p_value bytea)
returns bytea
language plpgsql volatile parallel unsafe
as $$
declare
  vector bytea;
  encrypted bytea;
begin
  execute format('select %s.gen_random_bytes(16)', memory._pgcrypto()) into vector;
  execute format('select %s.encrypt_iv($1, $2, $3, ''aes-cbc/pad:pkcs'')', memory._pgcrypto()) into encrypted
  using p_value, memory._hmac(p_key, 'encrypt'), vector;
  encrypted := vector || encrypted;
  return encrypted || memory._secret_code(p_key, p_user_id, p_name, encrypted);
end;
$$;

-- The value of a stored secret, opened by the current or the previous key. Refuses a row that neither opens.
create or replace function memory._opened(p_secret memory.secrets)
returns bytea
language plpgsql volatile parallel unsafe
as $$
declare
  key bytea := memory._secret_key();
  -- The last 32 bytes are the code that authenticates the rest.
  encrypted constant bytea := substr(p_secret.sealed, 1, greatest(octet_length(p_secret.sealed) - 32, 0));
  value bytea;
begin
  if p_secret.key_id <> memory._secret_key_id(key) then
    key := memory._secret_key_of('AGENT_MEMORY_SECRET_KEY_PREVIOUS');
    if key is null or p_secret.key_id <> memory._secret_key_id(key) then
      perform memory._refuse('AGENT_MEMORY_SECRET_KEY', 'is not the key that this secret was encrypted with',
        'Set AGENT_MEMORY_SECRET_KEY_PREVIOUS to the earlier key, then call memory.reencrypt_secrets().', '0A000');
    end if;
  end if;
  if substr(p_secret.sealed, octet_length(encrypted) + 1)
     = memory._secret_code(key, p_secret.user_id, p_secret.name, encrypted) then
    execute format('select %s.decrypt_iv($1, $2, $3, ''aes-cbc/pad:pkcs'')', memory._pgcrypto()) into value
    using substr(encrypted, 17), memory._hmac(key, 'encrypt'), substr(encrypted, 1, 16);
  else
    perform memory._refuse('name', 'this secret is damaged, or was copied here from another user or name',
      'Store it again with memory.set_secret().', 'XX001');
  end if;
  return value;
end;
$$;
