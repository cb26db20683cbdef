-- Values that several tables derive in the same way.

-- RFC 9562 version 7: 48 bits of milliseconds, then 12 bits of the fraction, so that ids of one server sort by time.
create or replace function memory._uuid_v7()
returns uuid
language sql volatile parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select encode(
    set_byte(set_byte(
      overlay(uuid_send(gen_random_uuid()) placing substring(int8send(floor(micros / 1000)::bigint) from 3) from 1 for 6),
      6, 112 | ((micros % 1000 * 4096 / 1000)::int >> 8)),
      7, (micros % 1000 * 4096 / 1000)::int & 255), 'hex')::uuid
  from (select (extract(epoch from clock_timestamp()) * 1000000)::bigint) as clock (micros)
$$;

-- SHA-256 of the normalised content, first 32 hex digits: what makes two memories exact duplicates.
create or replace function memory._content_hash(content text)
returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select left(encode(sha256(convert_to(btrim(regexp_replace(lower(content), '\s+', ' ', 'g')), 'UTF8')), 'hex'), 32)
$$;

-- About four bytes a token for English; languages with longer encodings come out high, which keeps budgets safe.
-- No SET clause: the planner inlines it.
create or replace function memory._estimate_tokens(content text)
returns int
language sql immutable parallel safe
as $$
  select (pg_catalog.octet_length(content) operator(pg_catalog.+) 3) operator(pg_catalog./) 4
$$;
