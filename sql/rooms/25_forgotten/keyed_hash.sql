-- Keyed hashes: without the key nobody finds out by trying whether a user or a statement is among what was forgotten.

-- The hash of a user, or of a statement of the user that memory._statement_hash() has spelled plainly.
create or replace function memory._keyed_hash(
  p_key memory.erasure_keys, p_user_id text, p_content_hash text default null
)
returns bytea
language plpgsql immutable parallel safe
as $$
begin
  return memory._hmac_sha256(int4send(octet_length(p_user_id)) || convert_to(p_user_id, 'UTF8')
    || convert_to(coalesce(p_content_hash, ''), 'UTF8'), p_key.inner_block, p_key.outer_block);
end;
$$;

-- The key that new tombstones are made with. Others came with users who were moved here.
create or replace function memory._erasure_key()
returns memory.erasure_keys
language plpgsql stable parallel safe
as $$
begin
  return k from memory.erasure_keys as k order by k.made_at, k.inner_block limit 1;
end;
$$;

-- What stands for a forgotten user where a row must still be found by whoever knows the user_id.
create or replace function memory._pseudonym(p_user_id text)
returns text
language plpgsql stable parallel safe
as $$
begin
  return 'forgotten:' || encode(memory._keyed_hash(memory._erasure_key(), p_user_id), 'hex');
end;
$$;
