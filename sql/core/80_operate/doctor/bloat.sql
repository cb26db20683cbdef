-- The doctor's check of dead rows: whether autovacuum keeps up, and how far transaction ids have run ahead. It reads
-- PostgreSQL's statistics, so the answer takes as long for a million rows as for none.
create or replace function memory._check_bloat(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
declare
  moment constant timestamptz := statement_timestamp();
  freeze_age constant bigint := current_setting('autovacuum_freeze_max_age')::bigint;
begin
  with tables as (
    select c.oid::regclass as name, pg_stat_get_live_tuples(c.oid) as live, age(c.relfrozenxid) as xid_age,
      pg_stat_get_dead_tuples(c.oid) as dead,
      coalesce((o.options ->> 'autovacuum_enabled')::boolean, true) as is_vacuumed,
      coalesce(o.options ->> 'autovacuum_vacuum_threshold', current_setting('autovacuum_vacuum_threshold'))::float8
        + coalesce(o.options ->> 'autovacuum_vacuum_scale_factor',
                   current_setting('autovacuum_vacuum_scale_factor'))::float8 * greatest(c.reltuples, 0) as due_at
    from pg_class as c
    cross join lateral (
      select coalesce(jsonb_object_agg(r.option_name, r.option_value), '{}') as options
      from pg_options_to_table(c.reloptions) as r) as o
    where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
  )
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    -- Autovacuum begins at due_at. Fewer than 10,000 dead rows slow nothing down.
    select format('%s has %s dead rows beside about %s live ones: run "vacuum (analyze) %1$s"', t.name, t.dead,
                  t.live) as fault
    from tables as t where t.dead > greatest(2 * t.due_at, 10000)
    union all
    select format('%s has transaction ids %s transactions old: run "vacuum (freeze) %1$s"', t.name, t.xid_age)
    from tables as t where t.xid_age > freeze_age * 1.5
    union all
    select format('autovacuum is off for %s: run "alter table %1$s reset (autovacuum_enabled)"', t.name)
    from tables as t where not t.is_vacuumed
    union all
    select 'autovacuum is off: run "alter system set autovacuum = on", then "select pg_reload_conf()"'
    where not current_setting('autovacuum')::boolean
    union all
    select format('a transaction is open for %s, and no row that died since then can be removed: run "select '
                  'pg_terminate_backend(%s)" if nobody needs it', date_trunc('second', moment - a.xact_start), a.pid)
    from pg_stat_activity as a
    where a.datname = current_database() and a.xact_start < moment - interval '1 hour'
      and a.backend_type = 'client backend' and a.backend_xmin is not null
    union all
    select format('a prepared transaction waits for %s: run "rollback prepared %L" if nobody commits it',
                  date_trunc('second', moment - x.prepared), x.gid)
    from pg_prepared_xacts as x
    where x.database = current_database() and x.prepared < moment - interval '1 hour') as f;
  ok := detail is null;
  detail := coalesce(detail, 'autovacuum keeps up');
end;
$$;
