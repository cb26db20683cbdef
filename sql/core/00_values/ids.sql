-- A new UUID of version 7 (RFC 9562): 48 bits of milliseconds, the version, 12 bits of the fraction of a millisecond,
-- and the variant and random bits of a UUID of version 4. Ids that one server makes sort by time. The function is in
-- PL/pgSQL, which caches the plan: an SQL function is planned anew in each transaction.
create or replace function memory._uuid_v7()
returns uuid
language plpgsql volatile parallel safe
as $$
declare
  micros constant bigint := date_part('epoch', clock_timestamp()) * 1000000;
begin
  return encode(
    int8send(micros / 1000 << 16 | 28672 | micros % 1000 * 4096 / 1000)
      || substring(uuid_send(gen_random_uuid()) from 9), 'hex')::uuid;
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
