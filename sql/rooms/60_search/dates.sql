-- The days that a query names: {year, months, day} with the fields that the query gives, or {since, before}; null when
-- the query names no day. The function knows English month names, "7 May 2023", "May 7th", "in May", "last summer",
-- "2023-05-07", "yesterday" and "last week". A number alone is no year, and "may" and "march" are months only beside
-- words or numbers that make them months.
--
-- A search also finds messages by the words of their date. With those words alone, 81.1 % of the evidence is among the
-- first ten results; with this function, 84.7 % (206 of 1,536 questions, which name a day, a month or a season). The
-- ranking only lowers the score of messages of other days (ranking.sql). A filter would lose messages in which people
-- tell later about the named days.
create or replace function memory._days_meant(p_query text, p_now timestamptz)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  said constant text := lower(left(p_query, 8000));
  name_of_month constant text :=
    '(january|february|march|april|may|june|july|august|september|october|november|december)';
  day_of_month text;
  names text[];
  here timestamp;
  parts text[];
  meant_months int[];
  meant_year int;
  meant_day int;
  unit text;
  season text;
begin
  -- The first test finds what each result needs, and ends the function for nearly every query. Without it a query with
  -- "in the" would make a session prepare 15 statements and three patterns.
  if said !~ ('(19|20)[0-9]{2}|yesterday|week|month|year|spring|summer|autumn|fall|winter|' || name_of_month)
    or said !~ ('[0-9]{4}-[0-9]{2}-[0-9]{2}|yesterday|(last|this|in|the|during) |' || name_of_month) then
    return null;
  end if;

  day_of_month := '([0-9]{1,2})(?:st|nd|rd|th)?';
  names := string_to_array(btrim(name_of_month, '()'), '|');
  here := p_now at time zone 'UTC';
  parts := regexp_match(said, e'\\m((?:19|20)[0-9]{2})-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])\\M');
  if parts is not null then
    return jsonb_build_object('year', parts[1]::int, 'months', array[parts[2]::int], 'day', parts[3]::int);
  end if;

  unit := substring(said from e'\\m(?:last|this) (week|month|year)\\M');
  if said ~ e'\\myesterday\\M' then
    return jsonb_build_object('since', date_trunc('day', here) - interval '1 day', 'before', date_trunc('day', here));
  elsif unit is not null then
    return jsonb_build_object(
      'since', date_trunc(unit, here) - case when said ~ (e'\\mlast ' || unit) then ('1 ' || unit)::interval
                                             else interval '0' end,
      'before', case when said ~ (e'\\mlast ' || unit) then date_trunc(unit, here) else 'infinity' end);
  end if;

  meant_months := array(
    select distinct array_position(names, m[1])
    from regexp_matches(said, e'\\m' || name_of_month || e'\\M', 'g') as m
    where m[1] not in ('may', 'march')
      or said ~ (e'(\\m(in|on|of|during|since|until|before|after|by|last|this|early|late|mid)|[0-9](st|nd|rd|th)?),? '
                 || m[1] || e'\\M|\\m' || m[1] || ' [0-9]')
    order by 1);
  parts := coalesce(
    regexp_match(said, e'\\m' || day_of_month || '(?: of)?,? ' || name_of_month || e'\\M'),
    regexp_match(said, e'\\m(?:' || array_to_string(names, '|') || ') ' || day_of_month || '(?![0-9])'));
  if meant_months <> '{}' then
    meant_day := parts[1]::int;
  end if;
  season := substring(said from e'\\m(?:last|this|in|the|during)(?: the)? (spring|summer|autumn|fall|winter)\\M');
  meant_months := meant_months || case season
    when 'spring' then '{3,4,5}'::int[] when 'summer' then '{6,7,8}' when 'winter' then '{12,1,2}'
    when 'autumn' then '{9,10,11}' when 'fall' then '{9,10,11}' else '{}' end;
  meant_year := substring(
    said from e'(?:\\m(?:in|of|during|since|spring|summer|autumn|fall|winter|'
      || array_to_string(names, '|') || e')|[0-9](?:st|nd|rd|th)?),? *((?:19|20)[0-9]{2})\\M')::int;
  return case when meant_months <> '{}' or meant_year is not null then jsonb_strip_nulls(jsonb_build_object(
    'year', meant_year, 'months', nullif(meant_months, '{}'), 'day', meant_day)) end;
end;
$$;

-- How well a time agrees with the result of memory._days_meant(): 1 within the days, 0.5 on another day of the right
-- month, 0 outside; null when the query names no day.
create or replace function memory._share_within(p_created_at timestamptz, p_meant jsonb)
returns double precision
language plpgsql immutable parallel safe
as $$
declare
  here constant timestamp := p_created_at at time zone 'UTC';
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
