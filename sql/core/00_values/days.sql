-- The day of a moment in a time zone. In UTC begin the days for which a budget or an allowance lasts, and the days
-- among the words and in the embedded text of a message. A day that is shown, or that a query names, is a day in the
-- zone of the speaker (memory._zone_of()).
create or replace function memory._day_of(p_moment timestamptz, p_zone text default 'UTC')
returns date
language sql immutable parallel safe
begin atomic
  select (p_moment at time zone p_zone)::date;
end;

-- The moment at which a day begins.
create or replace function memory._beginning_of(p_day date)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select p_day::timestamp at time zone 'UTC';
end;
