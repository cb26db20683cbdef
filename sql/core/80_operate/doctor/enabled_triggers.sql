-- The doctor's check of triggers. Without them plain SQL could break rules, and counters and jobs would stand still.
create or replace function memory._check_triggers(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
begin
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    select format('trigger %s of memory.%s is missing: run "agent-memory install"', x.name, x.table_name) as fault
    from (values
{{triggers}}
    ) as x (table_name, name)
    where not exists (
      select from pg_trigger as t
      where t.tgrelid = to_regclass('memory.' || x.table_name) and t.tgname = x.name)
    union all
    -- Also finds triggers of foreign keys, which "disable trigger all" switches off.
    select format('triggers of %s are disabled: run "alter table %1$s enable trigger all"', t.tgrelid::regclass)
    from pg_trigger as t
    join pg_class as c on c.oid = t.tgrelid and c.relnamespace = 'memory'::regnamespace
    where t.tgenabled in ('D', 'R')
    group by t.tgrelid
    union all
    select 'this session fires no triggers: run "alter role ... reset session_replication_role", and connect again'
    where current_setting('session_replication_role') = 'replica') as f;
  ok := detail is null;
  detail := coalesce(detail, 'all are there and enabled');
end;
$$;
