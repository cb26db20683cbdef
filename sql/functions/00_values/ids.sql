create or replace function memory._check_id(p_argument text, p_id text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if not memory._is_id(p_id) then
    perform memory._refuse(p_argument,
      case when p_id is null then 'must not be null' when p_id = '' then 'must not be empty'
           else format('has %s characters, at most 255 are allowed', length(p_id)) end,
      format('Pass %s as 1 to 255 characters of your own choice.', p_argument));
  end if;
end;
$$;

-- RFC 9562 version 7: 48 bits of milliseconds, then 12 bits of the fraction, so that ids of one server sort by time.
-- PL/pgSQL because its plan is cached: as an SQL function it took 37 us, this takes 4.
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

-- SHA-256 of the normalised content, first 32 hex digits: what makes two memories exact duplicates.
create or replace function memory._content_hash(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  -- Most content has single spaces already, and to see that costs a tenth of replacing them.
  return left(encode(sha256(convert_to(btrim(case when p_content ~ e'\\s\\s|[^\\S ]' then regexp_replace(lower(p_content), e'\\s+', ' ', 'g')
                                                  else lower(p_content) end), 'UTF8')), 'hex'), 32);
end;
$$;
