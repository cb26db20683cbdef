-- Whether a time is finite and in the years 1 to 9999. Every client can hold such a time in any time zone.
create or replace function memory._is_real_moment(p_moment timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_moment between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-30 00:00+00';
end;

-- Refuses a created_at that is infinite or outside the years 1 to 9999. Rows are sorted by created_at, so infinity is
-- not allowed here; memory._check_bound() allows infinity.
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

-- Refuses a start or an end (valid_from, valid_to, expires_at) outside the years 1 to 9999. Infinity means never.
create or replace function memory._check_bound(p_argument text, p_moment timestamptz)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if not memory._is_bound(p_moment) then
    perform memory._refuse(p_argument, format('%s is not within the years 1 to 9999', p_moment),
      'Use infinity, or null, for never.');
  end if;
end;
$$;

-- Whether a row has not expired yet. The planner inlines this function.
create or replace function memory._is_unexpired(p_expires_at timestamptz)
returns boolean
language sql stable parallel safe
begin atomic
  select p_expires_at is null or p_expires_at > statement_timestamp();
end;

-- Raises a notice if a new row has already expired. An error would be wrong: old data is copied with its times, and an
-- application can hide a row at once with an expiry in the past.
create or replace function memory._note_expired(p_what text, p_expires_at timestamptz)
returns void
language plpgsql stable parallel safe
as $$
begin
  if p_expires_at <= statement_timestamp() then
    raise notice 'degraded: nobody will read the %, expires_at is in the past', p_what
      using errcode = '01AM9', hint = 'Pass a later expires_at, or leave it out.';
  end if;
end;
$$;

-- A time for a result row. The result is null for infinity, and for a time outside the years 1 to 9999, which plain SQL
-- may have stored without the triggers: no driver can read these times.
create or replace function memory._real_or_null(p_moment timestamptz)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when memory._is_real_moment(p_moment) then p_moment end;
end;

-- The time at which a row that is stored now expires: after the lifetime (an interval such as '7 days'), or at infinity
-- if the lifetime is null or 'never'.
create or replace function memory._expiry(p_lifetime text)
returns timestamptz
language sql stable parallel safe
as $$
  select case
    when p_lifetime is null or p_lifetime = 'never' then 'infinity'
    else statement_timestamp() + p_lifetime::interval
  end
$$;

-- The time that a text in ISO 8601 gives, in p_zone if the text names no offset; null if the text is no such time.
create or replace function memory._time_or_null(p_value text, p_zone text default 'UTC')
returns timestamptz
language plpgsql stable parallel unsafe
set timezone = 'UTC'
set datestyle = 'ISO, YMD'
as $$
begin
  if p_zone <> 'UTC' then
    perform set_config('timezone', p_zone, true); -- until the function ends
  end if;
  return case when p_value ~ '^[0-9]{4}-[0-9]{2}' then p_value::timestamptz end;
exception
  when data_exception then
    return null;
end;
$$;

-- A time as text in ISO 8601, in UTC, to the second.
create or replace function memory._iso_time(p_moment timestamptz)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return to_char(p_moment at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"');
end;
$$;
