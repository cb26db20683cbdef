-- Only the owner may call functions until the owner grants that. PostgreSQL lets PUBLIC execute new functions, and
-- default privileges of a schema cannot change that, so it is revoked from each function. Grants to other roles survive
-- upgrades.
do $privileges$
declare
  routine regprocedure;
  carried record;
begin
  for routine in select p.oid::regprocedure from pg_proc as p where p.pronamespace = 'memory'::regnamespace loop
    execute format('revoke all on routine %s from public', routine);
  end loop;
  -- A function whose arguments changed is a new object without grants: it gets those of the one it replaces.
  for carried in
    select g.* from jsonb_to_recordset(current_setting('agent_memory.grants')::jsonb)
      as g (routine text, grantee text, is_grantable boolean)
  loop
    execute format('grant execute on routine %s to %s%s', carried.routine::regprocedure, carried.grantee,
      case when carried.is_grantable then ' with grant option' end);
  end loop;
end;
$privileges$;

-- The procedures of an upgrade run any SQL that is passed to them, so none may stay.
drop procedure memory._migrate, memory._lock, memory._unbind, memory._drop_replaced, memory._replace_view,
  memory._replace_trigger, memory._refuse_upgrade;

commit;

do $installed$
begin
  if pg_catalog.to_regprocedure('memory.version()') is null then
    raise exception 'agent_memory was not installed' using hint = 'The first error above says why.';
  end if;
  raise notice 'agent_memory {{version}} is installed';
end;
$installed$;
