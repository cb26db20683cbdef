-- Nobody but the owner may do anything that was not granted. PostgreSQL lets everyone execute new functions, and
-- default privileges of a schema cannot take that back, so it is revoked one by one. Grants to roles of your own
-- survive upgrades.
do $privileges$
declare
  routine regprocedure;
  carried record;
begin
  for routine in select p.oid::regprocedure from pg_proc as p where p.pronamespace = 'memory'::regnamespace loop
    execute format('revoke all on routine %s from public', routine);
  end loop;
  -- A function with other arguments than before is a new one to PostgreSQL, and nobody could call it.
  for carried in
    select g.* from jsonb_to_recordset(current_setting('agent_memory.grants')::jsonb)
      as g (routine text, grantee text, is_grantable boolean)
  loop
    execute format('grant execute on routine %s to %s%s', carried.routine::regprocedure, carried.grantee,
      case when carried.is_grantable then ' with grant option' end);
  end loop;
end;
$privileges$;

-- These procedures run any SQL that they are given, so they are removed.
drop procedure memory._migrate, memory._lock, memory._unbind, memory._drop_replaced, memory._replace_view,
  memory._replace_trigger;

commit;

-- Validates the constraint that kinds.sql may have added. Jobs of a kind that this version lacks stay, and nobody
-- claims them.
do $validate$
begin
  perform pg_catalog.set_config('search_path', 'pg_catalog, pg_temp', true);
  if exists (select from pg_constraint as c
             where c.conrelid = to_regclass('memory.jobs') and c.conname = 'kind_is_known' and not c.convalidated) then
    alter table memory.jobs validate constraint kind_is_known;
  end if;
exception when check_violation then
  raise warning 'memory.jobs has jobs of kinds that this version does not know'
    using hint = 'Delete those jobs, then run this file again.';
end;
$validate$;

do $installed$
begin
  if pg_catalog.to_regprocedure('memory.version()') is null then
    raise exception 'agent_memory was not installed' using hint = 'The first error above says why.';
  end if;
  raise notice 'agent_memory {{version}} is installed';
end;
$installed$;
