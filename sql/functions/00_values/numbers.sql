create or replace function memory._check_share(argument text, share double precision)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if share not between 0 and 1 then
    perform memory._refuse(argument, format('%s is not between 0 and 1', share), 'Leave it out for no limit.');
  end if;
end;
$$;

-- A cast to real fails for what is too small for one (below 1.2e-38). No SET clause: the planner inlines it.
create or replace function memory._real(number double precision)
returns real
language sql immutable parallel safe
begin atomic
  select (case when abs(number) < 1e-37 then 0 else number end)::real;
end;

-- A setting from 0 to 1 as a number to calculate with. JSON also holds numbers too small for a double precision
-- (1e-400), which a cast alone refuses.
create or replace function memory._share(setting text)
returns double precision
language sql immutable parallel safe
begin atomic
  select round(setting::numeric, 9)::double precision;
end;
