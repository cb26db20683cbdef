-- Values that several tables derive in the same way.

-- RFC 9562 version 7: 48 bits of milliseconds, then 12 bits of the fraction, so that ids of one server sort by time.
-- PL/pgSQL because its plan is cached: as an SQL function it took 37 us, this takes 4.
create or replace function memory._uuid_v7()
returns uuid
language plpgsql volatile parallel safe
set search_path = pg_catalog, pg_temp
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
create or replace function memory._content_hash(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Most content has single spaces already, and to see that costs a tenth of replacing them.
  return left(encode(sha256(convert_to(btrim(case when content ~ e'\\s\\s|[^\\S ]' then regexp_replace(lower(content), e'\\s+', ' ', 'g')
                                                  else lower(content) end), 'UTF8')), 'hex'), 32);
end;
$$;

-- A time as every driver can read it: "never" and "since ever" are null, and so is what was stored before times had
-- bounds. No SET clause: the planner inlines it.
create or replace function memory._real_or_null(moment timestamptz)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when memory._is_real_moment(moment) then moment end;
end;

-- A cast to real fails for what is too small for one (below 1.2e-38). No SET clause: the planner inlines it.
create or replace function memory._real(number double precision)
returns real
language sql immutable parallel safe
begin atomic
  select (case when abs(number) < 1e-37 then 0 else number end)::real;
end;

-- About four bytes a token for English; languages with longer encodings come out high, which keeps budgets safe.
-- No SET clause: the planner inlines it.
create or replace function memory._estimate_tokens(content text)
returns int
language sql immutable parallel safe
begin atomic
  select (octet_length(content) + 3) / 4;
end;

-- For what nobody has counted yet and must not break a limit: more than nearly any text has under the encodings of OpenAI
-- (prose 1.1 to 2 times, source code and JSON 1.3 to 2, Chinese 2, Russian 3, base64, hexadecimal and lists of numbers 1 to 2).
-- A word is at least one token, so are a digit between blanks, a line break, and nearly a capital within a word.
create or replace function memory._tokens_at_most(content text)
returns int
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  said constant text := replace(content, '    ', ''); -- indentation is one token
  lines constant int := length(said) - length(replace(said, e'\n', ''));
  blanks constant int := 2 * length(said) - length(replace(said, ' ', '')) - length(replace(said, e'\t', ''));
  -- Regular expressions take an eighth of the time of translate().
  digits constant int := length(said) - length(regexp_replace(said, '[0-9]+', '', 'g'));
  signs constant int := length(said) - length(regexp_replace(said, e'[!-/:-@\\[-`{-~]+', '', 'g'));
  capitals constant int := length(said) - length(regexp_replace(said, '[A-Z]+', '', 'g'));
  runs int := 0;
begin
  if content ~ e'\\S{24}' then
    runs := (select coalesce(sum(length(r[1])), 0) from regexp_matches(left(content, 1000000), e'(\\S{24,})', 'g') as r);
  end if;
  return ceil(2 + 0.24 * (length(said) - lines - blanks - digits - signs) + 0.75 * capitals + 1.9 * lines + 0.9 * blanks + 1.05 * digits
              + 0.85 * signs + 0.85 * (octet_length(content) - length(content)) + 0.4 * runs);
end;
$$;

create or replace function memory._tags_among(tags text[], wanted text[])
returns text[]
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return array(select distinct t.tag from unnest(tags) as t (tag) where t.tag = any (wanted));
end;
$$;

-- The tags of a row as they may be compared with those of a filter: all, or of a row from before there was a limit on
-- their number, those that the filter names. Comparing 3,000,000 with 100 takes 5 s that nothing can end; see
-- memory._check_list(). Inlined by the planner, hence no SET clause.
create or replace function memory._comparable_tags(tags text[], wanted text[])
returns text[]
language sql immutable parallel safe
begin atomic
  select case when cardinality(tags) <= 1000 then tags else memory._tags_among(tags, wanted) end;
end;

-- Whether a memory of this source was stated by somebody, and not drawn by a model from what was said. Inlined by the
-- planner, hence no SET clause.
create or replace function memory._states(source text)
returns boolean
language sql immutable parallel safe
begin atomic
  select source not in ('extraction', 'reconciliation');
end;

-- What keywords find a text by. Beside the words of the text search configuration: the parts of compounds that it keeps
-- whole (node.js, src/app.py, ana@example.org), and for scripts that put no spaces between words every character and every
-- pair of neighbours. A tsvector holds 1 MiB: the words of 256 KiB of text fit into it, and the rest is left out where it does not.
create or replace function memory._text_vector(language regconfig, content text)
returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
set client_min_messages = warning -- a word of more than 2,046 bytes is left out, which nobody who stores a text needs to hear
as $$
declare
  said text := left(content, case when octet_length(left(content, 262144)) <= 262144 then 262144 else 65536 end);
  -- Thai and Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  unspaced constant text := e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff]';
  vector tsvector;
begin
  -- What has no blank for long takes PostgreSQL's parser quadratic time: 40,000 characters of a_a_a_ took 8 seconds.
  if octet_length(said) > 1000 and said ~ e'\\S{250}' then
    said := regexp_replace(said, e'(\\S{250})', e'\\1 ', 'g');
  end if;
  vector := to_tsvector(language, said);
  if said ~ '[[:alnum:]_][./:@=][[:alnum:]_]' then
    vector := memory._with_more_words(vector, to_tsvector(language, coalesce((
      select string_agg(translate(c[1], './:@=_', '      '), ' ')
      from regexp_matches(left(said, 65536), '([[:alnum:]_-]+(?:[./:@=]+[[:alnum:]_-]+)+)', 'g') as c), '')));
  end if;
  if octet_length(said) > length(said) and said ~ unspaced then
    vector := memory._with_more_words(vector, to_tsvector('simple', coalesce((
      select string_agg(p.letter || ' ' || p.letter || p.next, ' ')
      from (select c.letter, lead(c.letter, 1, '') over (partition by r.run order by c.place) as next
            from regexp_matches(left(said, 32768), '(' || unspaced || '+)', 'g') with ordinality as r (letters, run)
            cross join lateral string_to_table(r.letters[1], null) with ordinality as c (letter, place)) as p), '')));
  end if;
  return vector;
end;
$$;

create or replace function memory._with_more_words(vector tsvector, more tsvector)
returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when pg_column_size(vector) + pg_column_size(more) < 1048576 then vector || more else vector end;
end;
$$;

-- Of a message also its speaker's name and its date: questions ask "what did Ana say in May".
create or replace function memory._message_vector(language regconfig, content text, metadata jsonb, created_at timestamptz)
returns tsvector
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return memory._text_vector(language, concat_ws(' ', to_char(created_at at time zone 'UTC', 'FMDD FMMonth YYYY'), metadata ->> 'name', content));
end;
$$;
