create or replace function memory._check_share(p_argument text, p_share double precision)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if p_share not between 0 and 1 then
    perform memory._refuse(p_argument, format('%s is not between 0 and 1', p_share), 'Leave it out for no limit.');
  end if;
end;
$$;

-- A cast to real fails for what is too small for one (below 1.2e-38). No SET clause: the planner inlines it.
create or replace function memory._real(p_number double precision)
returns real
language sql immutable parallel safe
begin atomic
  select (case when abs(p_number) < 1e-37 then 0 else p_number end)::real;
end;

-- A setting from 0 to 1 as a number to calculate with. JSON also holds numbers too small for a double precision
-- (1e-400), which a cast alone refuses.
create or replace function memory._share(p_setting text)
returns double precision
language sql immutable parallel safe
begin atomic
  select round(p_setting::numeric, 9)::double precision;
end;
