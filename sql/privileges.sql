-- Only the owner may call our functions until the owner grants that. PostgreSQL lets PUBLIC execute new functions, and
-- default privileges of a schema cannot change that, so it is revoked from each function. Grants to other roles survive
-- upgrades.
do $privileges$
declare
  routine regprocedure;
  carried record;
begin
  for routine in
    select p.oid::regprocedure from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.proname = any (array[{{functions}}])
      and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a where a.grantee = 0)
  loop
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

-- The conditions of triggers are evaluated with the rights of whoever writes to a table directly.
grant execute on function memory._changes_whole_user() to public;

-- "agent-memory uninstall" drops the extensions that this file has created, and no others.
do $made$
declare
  made record;
begin
  for made in
    select e.extname, obj_description(e.oid, 'pg_extension') as comment from pg_extension as e
    where e.extname in ('vector', 'pgcrypto', 'plpython3u')
      and e.extname <> all (current_setting('agent_memory.extensions')::name[])
  loop
    execute format('comment on extension %I is %L', made.extname, made.comment || ' (made by agent_memory)');
  end loop;
end;
$made$;

-- Records an installation or upgrade. A run of the same version that has changed no table leaves no trace.
do $audit$
declare
  installed constant text := nullif(current_setting('agent_memory.installed'), '');
  parts constant text[] := array(
    select m.name from memory.migrations as m where m.applied_at >= transaction_timestamp() order by m.name);
begin
  if parts <> '{}' or installed is distinct from '{{version}}' then
    perform memory._audit(case when installed is null then 'install' else 'upgrade' end,
      jsonb_build_object('from', installed, 'to', '{{version}}', 'parts', parts));
  end if;
end;
$audit$;

{{rights of roles}}
do $installed$
begin
  {{each addon with installed: perform memory._<addon>_installed();}}
end;
$installed$;

-- The procedures of an upgrade run any SQL that is passed to them, so none may stay.
drop function memory._missing_row_security;
drop procedure memory._migrate, memory._lock, memory._unbind, memory._drop_replaced, memory._replace_view,
  memory._replace_trigger, memory._refuse_upgrade;

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
  elsif memory.version() <> '{{version}}' then
    raise exception 'agent_memory is still %', memory.version() using hint = 'The first error above says why.';
  end if;
  raise notice 'agent_memory {{version}} is installed' using detail = (
    select format('Schema memory belongs to role "%s"%s. Extensions that agent_memory has made: %s. Roles: %s. '
                  'Add-ons: %s.',
      r.rolname, case when r.rolsuper then ', a superuser, with whose rights its functions run' end,
      (select coalesce(string_agg(e.extname, ', ' order by e.extname), 'none') from pg_catalog.pg_extension as e
       where pg_catalog.obj_description(e.oid, 'pg_extension') like '%(made by agent_memory)'),
      c.detail, coalesce(nullif(array_to_string(memory._addons(), ', '), ''), 'none, this is the core'))
    from pg_catalog.pg_namespace as n
    join pg_catalog.pg_roles as r on r.oid = n.nspowner
    cross join memory._check_roles() as c
    where n.nspname = 'memory');
end;
$installed$;
