-- The doctor's check of upgrades: the tables have the form of this version, and no step of an upgrade is left to do.
create or replace function memory._check_upgrade(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
begin
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    select case when t.version > string_to_array('{{version}}', '.')::int[]
        then format('the tables%s are of %s, newer than {{version}}: run "agent-memory install" of that version',
          p.name, v.name)
        else format('the tables%s are of %s and not of %s: run "agent-memory install"', p.name, v.name, p.version)
      end as fault
    from (values {{versions of tables}}) as x (part, version)
    cross join lateral (values (coalesce(' of ' || nullif(x.part, ''), ''), x.version)) as p (name, version)
    cross join lateral (
      select max(string_to_array(m.version, '.')::int[]) from memory.migrations as m
      where rtrim(m.name, '0123456789.- ') = x.part) as t (version)
    cross join lateral (select coalesce(array_to_string(t.version, '.'), 'no known version')) as v (name)
    where t.version is distinct from string_to_array(p.version, '.')::int[]
    union all
    select format('%s was left behind by an upgrade that failed: run "agent-memory install"', p.oid::regprocedure)
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
      and p.proname in ('_door', '_migrate', '_lock', '_unbind', '_drop_replaced', '_replace_view', '_replace_trigger')
    union all
    select format('rows of %s may break constraint %s: correct them, then run "alter table %1$s validate constraint '
                  '%2$I"', c.conrelid::regclass, c.conname)
    from pg_constraint as c where c.connamespace = 'memory'::regnamespace and not c.convalidated) as f;
  ok := detail is null;
  detail := coalesce(detail, 'none is unfinished');
end;
$$;
