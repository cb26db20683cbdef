create or replace function memory.partition_of(user_id text, partitions int default 64)
returns int
language plpgsql immutable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not memory._is_id(user_id) or (partitions between 1 and 65536) is not true then
    perform memory._check_partition(user_id);
  end if;
  -- The hash is MD5, because every language has it, and the result must be the same in all of them.
  return memory._partition_of_digest(md5(convert_to(user_id, 'UTF8')), partitions);
end;
$$;
comment on function memory.partition_of(text, int) is
'The partition that a user belongs to, from 0 to partitions - 1: the first 32 bits of the MD5 of the user_id in UTF-8, '
'read as a big-endian number, modulo the number of partitions. The same in every version, encoding and language.';

-- The partition of a user whose user_id has this MD5. If the number of partitions divides 256, as the default does, the
-- last of the four bytes decides alone. If the number is a constant, PostgreSQL plans only one branch, which takes half
-- as many operators.
create or replace function memory._partition_of_digest(p_digest text, p_partitions int)
returns int
language sql immutable parallel safe
begin atomic
  select case
    when 256 % p_partitions = 0 then get_byte(decode(p_digest, 'hex'), 3) % p_partitions
    else ('x' || left(p_digest, 8))::bit(32)::bigint % p_partitions
  end;
end;

-- Refuses a text that is no id, or else the number of partitions.
create or replace function memory._check_partition(p_user_id text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if not memory._is_id(p_user_id) then
    perform memory._refuse('user_id', 'must have 1 to 255 characters', 'Pass the id of a user.');
  end if;
  perform memory._refuse('partitions', 'must be between 1 and 65536',
    'Pass the number of partitions that the cluster was made with.');
end;
$$;
