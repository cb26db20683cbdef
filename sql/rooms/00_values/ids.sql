-- A new UUID of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits of the fraction of a millisecond, random bits.
-- Ids that one server makes sort by time. The function is in PL/pgSQL, which caches the plan: a call takes 4 us, and 37
-- us as an SQL function.
create or replace function memory._uuid_v7()
returns uuid
language plpgsql volatile parallel safe
as $$
declare
  micros bigint := extract(epoch from clock_timestamp()) * 1000000;
  fraction int := micros % 1000 * 4096 / 1000;
  id bytea := overlay(uuid_send(gen_random_uuid()) placing substring(int8send(micros / 1000) from 3) from 1 for 6);
begin
  return encode(set_byte(set_byte(id, 6, 112 | (fraction >> 8)), 7, fraction & 255), 'hex')::uuid;
end;
$$;

-- The first 32 hex digits of the SHA-256 of the content as memory._plainly_spelled() spells it. Two memories of one
-- agent are exact duplicates if their hashes are equal.
create or replace function memory._content_hash(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return left(encode(sha256(convert_to(memory._plainly_spelled(p_content), 'UTF8')), 'hex'), 32);
end;
$$;
