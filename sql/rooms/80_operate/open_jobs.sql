-- What waits and what runs, for memory.doctor() and memory.status().
create or replace function memory._open_jobs(
  out pending bigint, out running bigint, out due bigint, out oldest_due timestamptz, out last_error text
)
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := statement_timestamp();
begin
  select count(*) filter (where j.status = 'pending'), count(*) filter (where j.status = 'running'),
    count(*) filter (where j.status = 'pending' and j.run_after <= moment),
    min(j.run_after) filter (where j.status = 'pending' and j.run_after <= moment and isfinite(j.run_after))
  into pending, running, due, oldest_due
  from memory.jobs as j where j.status in ('pending', 'running');

  -- A job that waits for a budget (AM002) has not failed.
  select j.error into last_error
  from memory.jobs as j
  where j.status = 'pending' and j.error is not null and j.attempts > 0 and j.error not like 'AM002%'
  order by j.run_after desc limit 1;
  if last_error is null then
    select j.error into last_error
    from memory.jobs as j
    where j.status = 'running' and j.lease_expires_at is not null and j.error is not null and j.attempts > 0
      and j.error not like 'AM002%'
    order by j.run_after desc limit 1;
  end if;
end;
$$;
