-- Refuses an id (of a user, thread, agent or model, for example) that is null, empty or longer than 255 characters, and
-- as user_id any user that this session may not reach.
create or replace function memory._check_id(p_argument text, p_id text)
returns void
language plpgsql stable parallel safe
as $$
begin
  if not memory._is_id(p_id) then
    perform memory._refuse(p_argument,
      case
        when p_id is null then 'must not be null'
        when p_id = '' then 'must not be empty'
        else format('has %s characters, at most 255 are allowed', length(p_id))
      end,
      format('Pass %s as 1 to 255 characters of your own choice.', p_argument));
  elsif p_argument = 'user_id' and not memory._may_reach(p_id) then
    perform memory._refuse_foreign_user();
  end if;
end;
$$;

-- Refuses a null for "all users" in a session that reaches one user only; any other user_id as memory._check_id() does.
create or replace function memory._check_user_or_all(p_user_id text)
returns void
language plpgsql stable parallel safe
as $$
begin
  if p_user_id is not null then
    perform memory._check_id('user_id', p_user_id);
  elsif memory._is_tenant() then
    perform memory._refuse_foreign_user();
  end if;
end;
$$;

-- The error is the same for users who exist and for those who do not.
create or replace function memory._refuse_foreign_user()
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse('user_id', 'is not the user of this session',
    'memory.tenant_user() says which user that is. A role of your application''s server reaches other users.', '42501');
end;
$$;

-- A new UUID of version 7 (RFC 9562): 48 bits of milliseconds, 12 bits of the fraction of a millisecond, random bits.
-- Ids that one server makes sort by time. In PL/pgSQL the plan is cached: 4 us a call, against 37 us as an SQL
-- function.
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

-- First 32 hex digits of the SHA-256 of the content as memory._plainly_spelled() spells it. Two memories of one agent
-- and type are exact duplicates when their hashes are equal.
create or replace function memory._content_hash(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return left(encode(sha256(convert_to(memory._plainly_spelled(p_content), 'UTF8')), 'hex'), 32);
end;
$$;
