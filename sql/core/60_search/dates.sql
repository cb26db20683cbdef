-- The days that a query names: {year, months, day} with the fields that the query gives, or {since, before}; null when
-- the query names no day. The words of all languages in lists/times/ are read as one language, word by word: "7 May
-- 2023", "im letzten Oktober", "el mes pasado", "прошлым летом". Chinese and Japanese phrases are first replaced by
-- English words. A number alone is not read as a year. A month whose name is also another word ("may", "mars") is read
-- as a month only beside a number or a preposition. A word with another meaning in another language ("hier", "an")
-- counts only in queries in its own language.
--
-- The ranking only lowers the score of messages of other days (ranking.sql). A filter would lose messages in which
-- people tell later about the named days. "Yesterday" is the day before today in the time zone of the user's newest
-- conversation (memory._zone_of()).
create or replace function memory._days_meant(p_query text, p_user_id text)
returns jsonb
language plpgsql stable parallel unsafe
as $$
declare
  signs constant jsonb := jsonb {{list date_signs}}; -- the words of lists that the first test looks for
  lists constant jsonb := jsonb {{list dates}};
  said text := memory._folded(lower(translate(left(p_query, 8000), '０１２３４５６７８９', '0123456789')));
  words text[] := regexp_split_to_array(said, '[^[:alnum:]]+');
  priors text[]; -- the word before each of words
  here timestamp;
  parts text[];
  asked text; -- the language of the query, if it matters
  word text;
  prior text;
  before text;
  after text;
  is_last boolean;
  is_relative boolean;
  meant_months int[] := array[]::int[];
  meant_year int;
  meant_day int;
  since timestamp;
  until timestamp;
  unit text;
  season int;
begin
  -- The first test ends the function for nearly every query.
  if not (signs ?| words or said ~ '(19|20)[0-9]{2}'
          or octet_length(said) > length(said) and said ~ '[月年昨去今先上这本春夏秋冬周曜前星]|きのう|おととい') then
    return null;
  end if;

  parts := coalesce(
    regexp_match(said, e'\\m((?:19|20)[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\\M'),
    (select array[d[3], d[2], d[1]]
     from regexp_match(said, e'\\m(0?[1-9]|[12][0-9]|3[01])\\. ?(0?[1-9]|1[0-2])\\. ?((?:19|20)[0-9]{2})\\M') as d));
  if parts[3] is not null then
    return jsonb_build_object('year', parts[1]::int, 'months', array[parts[2]::int], 'day', parts[3]::int);
  end if;

  if octet_length(said) > length(said) then
    words := regexp_split_to_array(memory._with_english_dates(said, lists -> 'phrases'), '[^[:alnum:]]+');
  end if;
  here := statement_timestamp() at time zone memory._zone_of(p_user_id);
  asked := case when lists -> 'own' ?| words then
    memory._language_of(p_query, 'english', to_tsvector('english', p_query))::text end;
  since := (
    select date_trunc('day', here) + make_interval(days => d.value::int)
    from jsonb_each(lists -> 'days') as d
    where position(' ' || d.key || ' ' in ' ' || array_to_string(words, ' ') || ' ') > 0
      and coalesce(lists -> 'own' ->> d.key, asked) is not distinct from asked
    order by length(d.key) desc limit 1);
  until := since + interval '1 day';
  if asked is not null then
    words := array(
      select case when coalesce(lists -> 'own' ->> w.word, asked) = asked or lists -> 'last' ?| array[w.prior, w.after]
                  then w.word else '' end
      from (select u.word, u.place, lag(u.word) over (order by u.place) as prior,
              lead(u.word) over (order by u.place) as after
            from unnest(words) with ordinality as u (word, place)) as w
      order by w.place);
  end if;

  select array_agg(w.word order by w.place), array_agg(w.prior order by w.place) into words, priors
  from (select u.word, u.place, lag(u.word) over (order by u.place) as prior
        from unnest(words) with ordinality as u (word, place)) as w
  where not lists -> 'skipped' ? w.word;
  for number in 1 .. cardinality(words) loop
    word := words[number];
    continue when not (signs ? word or word ~ '^((19|20)[0-9]{2}|month[0-9]+|an)$');
    prior := priors[number];
    before := coalesce(words[number - 1], '');
    after := coalesce(words[number + 1], '');
    is_last := lists -> 'last' ? before or lists -> 'last' ? after and after <> 'last'; -- "how long did the week last"
    is_relative := is_last or lists -> 'this' ? before;
    if word ~ '^(19|20)[0-9]{2}$' then
      if lists -> 'on' ? prior or lists -> 'months' ?| array[before, after] or lists -> 'seasons' ? before
          or lists -> 'units' ?| array[before, after] or before ~ '^([0-9]{1,2}(st|nd|rd|th)?|month[0-9]+)$' then
        meant_year := word::int;
      end if;
    elsif lists -> 'months' ? word or word ~ '^month([1-9]|1[0-2])$' then
      parts := coalesce(regexp_match(before, '^([1-9]|[12][0-9]|3[01])(?:st|nd|rd|th|er|e|o|го)?$'),
                        regexp_match(after, '^([1-9]|[12][0-9]|3[01])(?:st|nd|rd|th)?$'));
      continue when (lists -> 'unsure' ? word and parts is null and not is_relative and not lists -> 'on' ? prior
                     and after !~ '^(19|20)[0-9]{2}$') is not false;
      meant_day := coalesce(meant_day, parts[1]::int);
      meant_months := meant_months || coalesce((lists -> 'months' ->> word)::int, substr(word, 6)::int);
      if is_last then
        since := make_date(date_part('year', here)::int, meant_months[1], 1);
        until := since + interval '1 month';
      end if;
    elsif lists -> 'seasons' ? word then
      continue when (is_relative or lists -> 'on' ? prior or lists -> 'skipped' ? prior or word ~ '[а-я]'
                     or after ~ '^(19|20)[0-9]{2}$') is not true;
      season := (lists -> 'seasons' ->> word)::int;
      meant_months := meant_months || array[season * 3, season * 3 % 12 + 1, (season * 3 + 1) % 12 + 1];
      if is_last then
        since := make_date(date_part('year', here)::int, season * 3, 1);
        until := since + interval '3 months';
      end if;
    elsif lists -> 'weekdays' ? word and (is_relative or lists -> 'on' ? prior and not lists -> 'unsure' ? word) then
      since := date_trunc('week', here) + make_interval(days => (lists -> 'weekdays' ->> word)::int - 1);
      since := since - case when since >= date_trunc('day', here) and not lists -> 'this' ? before
                            then interval '7 days' else interval '0' end;
      until := since + interval '1 day';
    elsif lists -> 'units' ? word and is_relative then
      unit := (array['day', 'week', 'month', 'year'])[(lists -> 'units' ->> word)::int];
      if unit = 'year' then
        meant_year := date_part('year', here)::int - is_last::int;
      else
        since := date_trunc(unit, here) - is_last::int * ('1 ' || unit)::interval;
        until := case when is_last then date_trunc(unit, here) else 'infinity' end;
      end if;
    end if;
  end loop;
  -- "Last summer" is the newest summer that has ended, unless the query names the year, too.
  since := since - case when until > here and meant_months <> '{}' then interval '1 year' else interval '0' end;
  until := case when until > here and meant_months <> '{}' then until - interval '1 year' else until end;
  return case
    when since is not null and meant_year is null then jsonb_build_object('since', since, 'before', until)
    when meant_months <> '{}' or meant_year is not null then jsonb_strip_nulls(jsonb_build_object(
      'year', meant_year, 'months', nullif(array(select distinct m from unnest(meant_months) as m order by m), '{}'),
      'day', meant_day)) end;
end;
$$;

-- A query with English words in place of Chinese and Japanese phrases and dates: "month5" for "5月".
create or replace function memory._with_english_dates(p_said text, p_phrases jsonb)
returns text
language plpgsql immutable parallel safe
as $$
declare
  said text := p_said;
  phrase jsonb;
begin
  for phrase in select p from jsonb_array_elements(p_phrases) as p loop
    said := replace(said, phrase ->> 0, ' ' || (phrase ->> 1) || ' ');
  end loop;
  said := regexp_replace(said, '([0-9]{1,2}) ?月 ?(?:の ?)?(?:([0-9]{1,2}) ?[日号號])?', ' month\1 \2 ', 'g');
  return regexp_replace(said, '((?:19|20)[0-9]{2}) ?年', ' in \1 ', 'g');
end;
$$;

-- How well a time in a time zone agrees with the result of memory._days_meant(): 1 within the days, 0.5 on another day
-- of the right month, 0 outside; null when the query names no day or the time is infinite.
create or replace function memory._share_within(p_created_at timestamptz, p_zone text, p_meant jsonb)
returns double precision
language plpgsql immutable parallel safe
as $$
declare
  here constant timestamp := p_created_at at time zone p_zone;
begin
  return case
    when p_meant is null or not isfinite(p_created_at) then null
    when p_meant ? 'since' then
      (here >= (p_meant ->> 'since')::timestamp and here < (p_meant ->> 'before')::timestamp)::int
    when p_meant ? 'year' and date_part('year', here) <> (p_meant ->> 'year')::int
      or p_meant ? 'months' and not p_meant -> 'months' @> to_jsonb(date_part('month', here)::int) then 0
    when p_meant ? 'day' and date_part('day', here) <> (p_meant ->> 'day')::int then 0.5
    else 1 end;
end;
$$;
