-- Keyed hashes: without the key nobody can find out by guessing whether a user or a statement was forgotten.

-- The hash of a user.
create or replace function memory._keyed_hash(p_key memory.erasure_keys, p_user_id text)
returns bytea
language plpgsql immutable parallel safe
as $$
begin
  return memory._hmac_sha256(int4send(octet_length(p_user_id)) || convert_to(p_user_id, 'UTF8'),
    p_key.inner_block, p_key.outer_block);
end;
$$;

-- The hash of a statement of the user who has this hash. Nobody has to keep the user_id to find the statement.
create or replace function memory._keyed_statement(p_key memory.erasure_keys, p_user_hash bytea, p_content text)
returns bytea
language plpgsql immutable parallel safe
as $$
begin
  return memory._hmac_sha256(p_user_hash || convert_to(memory._statement_hash(p_content), 'UTF8'),
    p_key.inner_block, p_key.outer_block);
end;
$$;

-- The key for new tombstones. Other keys came with users who were moved to this database.
create or replace function memory._erasure_key()
returns memory.erasure_keys
language plpgsql stable parallel safe
as $$
begin
  return k from memory.erasure_keys as k order by k.made_at, k.inner_block limit 1;
end;
$$;

-- The pseudonym of a forgotten user. A caller who knows the user_id still finds the user's rows by it.
create or replace function memory._pseudonym(p_user_id text)
returns text
language plpgsql stable parallel safe
as $$
begin
  return 'forgotten:' || encode(memory._keyed_hash(memory._erasure_key(), p_user_id), 'hex');
end;
$$;
