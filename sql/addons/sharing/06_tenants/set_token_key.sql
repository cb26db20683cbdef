create or replace function memory.set_token_key(key text, previous text default null)
returns void
language plpgsql volatile parallel unsafe security definer -- nobody has rights on the table
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_token_key('key', key);
  if previous is not null then
    perform memory._check_token_key('previous', previous);
  end if;
  insert into memory.token_keys as k (is_previous, inner_block, outer_block)
  select given.is_previous, memory._hmac_block(memory._decoded(given.key, 'base64'), 54),
    memory._hmac_block(memory._decoded(given.key, 'base64'), 92)
  from (values (false, set_token_key.key), (true, previous)) as given (is_previous, key)
  where given.key is not null
  on conflict on constraint token_keys_pkey do update
  set inner_block = excluded.inner_block, outer_block = excluded.outer_block, set_at = excluded.set_at;
  -- The previous key is deleted last, so that two sessions that set keys wait for each other at the key itself.
  delete from memory.token_keys as k where k.is_previous and previous is null;
  perform memory._audit('set_token_key', jsonb_build_object('has_previous', previous is not null));
end;
$$;
comment on function memory.set_token_key(text, text) is
'Sets the key that tokens of tenants are signed with (HS256): 32 random bytes or more in base64. With a previous key '
'the tokens signed with that are accepted as well, otherwise they count no more. Pass keys as parameters, because a '
'server may log the text of statements.';

-- Refuses a key that is not 32 to 1,024 bytes in base64. The message does not repeat the key.
create or replace function memory._check_token_key(p_argument text, p_key text)
returns void
language plpgsql immutable parallel unsafe
as $$
begin
  if (octet_length(p_key) <= 2000 and octet_length(memory._decoded(p_key, 'base64')) between 32 and 1024)
    is not true then
    perform memory._refuse(p_argument, 'is not 32 to 1024 bytes in base64', 'Make one with "openssl rand -base64 32".');
  end if;
end;
$$;

-- The key of HMAC-SHA256 (RFC 2104) in the form in which the hash reads it: 64 bytes, each combined with p_byte by
-- exclusive or (54 for the inner hash, 92 for the outer one). The key is stored in this form, because making the form
-- takes longer than verifying a token.
create or replace function memory._hmac_block(p_key bytea, p_byte int)
returns bytea
language plpgsql immutable parallel safe
as $$
declare
  block bytea := case when octet_length(p_key) > 64 then sha256(p_key) else p_key end;
begin
  block := block || decode(repeat('00', 64 - octet_length(block)), 'hex');
  for i in 0 .. 63 loop
    block := set_byte(block, i, get_byte(block, i) # p_byte);
  end loop;
  return block;
end;
$$;
