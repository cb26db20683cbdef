-- Refuses a job whose status does not fit its times and its lease. A trigger and no check constraint: see tables.sql.
create or replace function memory._job_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if (new.status in ('pending', 'running', 'completed', 'dead')
      and (new.status in ('completed', 'dead')) = (new.finished_at is not null)
      and (new.status = 'running') = (new.lease_token is not null and new.lease_expires_at is not null)) is false
    and not ({{are copied}}) then
    perform memory._refuse('status', format('"%s" does not fit finished_at or the lease', left(new.status, 50)),
      'A running job has lease_token and lease_expires_at, a completed or dead one finished_at, a pending one neither.',
      '23514');
  end if;
  return new;
end;
$$;
