-- The day of a moment. Days begin at midnight in UTC everywhere: those that stand beside a shown text, those for which
-- a budget or an allowance lasts, and those by which search finds a message.
create or replace function memory._day_of(p_moment timestamptz)
returns date
language sql immutable parallel safe
begin atomic
  select (p_moment at time zone 'UTC')::date;
end;

-- The moment at which a day begins.
create or replace function memory._beginning_of(p_day date)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select p_day::timestamp at time zone 'UTC';
end;
