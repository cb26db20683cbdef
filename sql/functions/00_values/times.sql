-- A time that every client can hold. Inlined by the planner, hence no SET clause.
create or replace function memory._is_real_moment(moment timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
  select moment between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-30 00:00+00';
end;

-- When something was said or stored. Other times may be infinite or long before our era; this one orders what is read.
create or replace function memory._check_moment(argument text, moment timestamptz)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not memory._is_real_moment(moment) then
    perform memory._refuse(argument, 'must be a real moment of the years 1 to 9999',
      'Leave it out to store the current time.');
  end if;
end;
$$;

-- Since when or until when something holds. Infinity means never.
create or replace function memory._check_bound(argument text, moment timestamptz)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if isfinite(moment) and not memory._is_real_moment(moment) then
    perform memory._refuse(argument, format('%s is not within the years 1 to 9999', moment),
      'Use infinity, or null, for never.');
  end if;
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

-- Lifetimes are intervals; null and 'never' mean no end.
create or replace function memory._expiry(lifetime text)
returns timestamptz
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case when lifetime is null or lifetime = 'never' then 'infinity' else statement_timestamp() + lifetime::interval end
$$;

-- A time as ISO 8601, without an offset in UTC.
create or replace function memory._time_or_null(value text)
returns timestamptz
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
begin
  return case when value ~ '^[0-9]{4}-[0-9]{2}' then value::timestamptz end;
exception
  when data_exception then
    return null;
end;
$$;

create or replace function memory._iso_time(moment timestamptz)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return to_char(moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end;
$$;
