-- A time that every client can hold. Inlined by the planner, hence no SET clause.
create or replace function memory._is_real_moment(p_moment timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_moment between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-30 00:00+00';
end;

-- When something was said or stored. Other times may be infinite or long before our era; this one orders what is read.
create or replace function memory._check_moment(p_argument text, p_moment timestamptz)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if not memory._is_real_moment(p_moment) then
    perform memory._refuse(p_argument, 'must be a real moment of the years 1 to 9999',
      'Leave it out to store the current time.');
  end if;
end;
$$;

-- Since when or until when something holds. Infinity means never.
create or replace function memory._check_bound(p_argument text, p_moment timestamptz)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if isfinite(p_moment) and not memory._is_real_moment(p_moment) then
    perform memory._refuse(p_argument, format('%s is not within the years 1 to 9999', p_moment),
      'Use infinity, or null, for never.');
  end if;
end;
$$;

-- A time as every driver can read it: "never" and "since ever" are null, and so is what was stored before times had
-- bounds. No SET clause: the planner inlines it.
create or replace function memory._real_or_null(p_moment timestamptz)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when memory._is_real_moment(p_moment) then p_moment end;
end;

-- Lifetimes are intervals; null and 'never' mean no end.
create or replace function memory._expiry(p_lifetime text)
returns timestamptz
language sql stable parallel safe
as $$
  select case when p_lifetime is null or p_lifetime = 'never' then 'infinity' else statement_timestamp() + p_lifetime::interval end
$$;

-- A time as ISO 8601, without an offset in UTC.
create or replace function memory._time_or_null(p_value text)
returns timestamptz
language plpgsql stable parallel safe
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
begin
  return case when p_value ~ '^[0-9]{4}-[0-9]{2}' then p_value::timestamptz end;
exception
  when data_exception then
    return null;
end;
$$;

create or replace function memory._iso_time(p_moment timestamptz)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return to_char(p_moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end;
$$;
