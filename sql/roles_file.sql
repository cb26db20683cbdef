-- agent_memory {{version}}: the roles memory_app, memory_tenant, memory_worker, memory_reader and memory_admin.
--
-- For servers where the owner of schema memory may not create roles. An administrator runs this file, which needs
-- CREATEROLE, in the database of agent_memory; then the owner runs agent_memory.sql, which grants them their rights.
--   psql -qX -v ON_ERROR_STOP=1 -d app -f agent_memory_roles.sql          or          agent-memory install --roles
-- Running it again changes nothing.
begin;
{{create roles}}
-- memory.bind_role() makes roles members of memory_tenant as the owner of the schema.
do $owner$
declare
  owner constant name := (select pg_catalog.pg_get_userbyid(n.nspowner) from pg_catalog.pg_namespace as n
                          where n.nspname operator(pg_catalog.=) 'memory');
begin
  if owner operator(pg_catalog.<>) current_user
    and not pg_catalog.pg_has_role(owner, 'memory_tenant', 'member with admin option') then
    execute pg_catalog.format('grant memory_tenant to %I with admin option', owner);
  end if;
end;
$owner$;
commit;
