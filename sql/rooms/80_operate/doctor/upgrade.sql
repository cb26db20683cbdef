-- What memory.doctor() says of upgrades: that all parts of this version have run, and that nothing is left to do.
create or replace function memory._check_upgrade(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
begin
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    select format('part %s has not run: run "agent-memory install"', p.name) as fault
    from unnest(array[{{parts}}]) as p (name)
    where not exists (select from memory.migrations as m where m.name = p.name)
    union all
    select format('a version newer than {{version}} has run part %s: run "agent-memory install" of that version',
                  max(m.name))
    from memory.migrations as m
    where string_to_array(m.version, '.')::int[] > string_to_array('{{version}}', '.')::int[]
    having count(*) > 0
    union all
    select format('%s was left behind by an upgrade that failed: run "agent-memory install"', p.oid::regprocedure)
    from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
      and p.proname in ('_door', '_migrate', '_lock', '_unbind', '_drop_replaced', '_replace_view', '_replace_trigger')
    union all
    select format('rows of %s may break constraint %s: correct them, then run "alter table %1$s validate constraint '
                  '%2$I"', c.conrelid::regclass, c.conname)
    from pg_constraint as c where c.connamespace = 'memory'::regnamespace and not c.convalidated
    union all
    select 'rows from before the upgrade wait to be worked on: run "select memory.sweep()" until its counts are 0'
    where exists (select from memory.embeddings as e where e.source = 'message' and e.code is null)) as f;
  ok := detail is null;
  detail := coalesce(detail, 'none is unfinished');
end;
$$;
