-- The number as a real, and 0 for a number close to 0: a cast alone fails for numbers below 1.2e-38.
create or replace function memory._real(p_number double precision)
returns real
language sql immutable parallel safe
begin atomic
  select (case when abs(p_number) < 1e-37 then 0 else p_number end)::real;
end;

-- A setting from 0 to 1 as a double precision with 9 decimals. A cast alone fails for JSON numbers that are too small
-- for a double precision, such as 1e-400.
create or replace function memory._share(p_setting text)
returns double precision
language sql immutable parallel safe
begin atomic
  select round(p_setting::numeric, 9)::double precision;
end;

-- The number of a message (seq) that a value in metadata gives; null if the value is no such number. Applications write
-- metadata, so the value may be anything.
create or replace function memory._seq_or_null(p_value jsonb)
returns bigint
language plpgsql immutable parallel safe
as $$
begin
  return case when jsonb_typeof(p_value) = 'number' and p_value between '0' and '1000000000000000'
    then p_value::bigint end;
end;
$$;
