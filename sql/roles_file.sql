-- agent_memory {{version}}: the roles memory_app, memory_tenant, memory_worker, memory_reader and memory_admin, or what
-- they are named in this database (docs/roles.md).
--
-- For servers where the owner of schema memory may not create roles. An administrator runs this file, which needs
-- CREATEROLE, in the database of agent_memory; then the owner runs agent_memory.sql, which grants them their rights.
--   psql -qX -v ON_ERROR_STOP=1 -d app -f agent_memory_roles.sql          or          agent-memory install --roles
-- Running it again changes nothing.
begin;
set local search_path = pg_catalog, pg_temp;
{{create roles}}
-- memory.bind_role() makes roles members of the tenants' role as the owner of the schema.
do $owner$
declare
  owner constant name := (select pg_get_userbyid(n.nspowner) from pg_namespace as n where n.nspname = 'memory');
  tenant constant name := replace(current_setting('agent_memory.role_names'), '*', 'tenant');
begin
  if owner <> current_user and not pg_has_role(owner, tenant, 'member with admin option') then
    execute format('grant %I to %I with admin option', tenant, owner);
  end if;
end;
$owner$;
commit;
