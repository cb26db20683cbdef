-- agent_memory 0.2.0: the roles memory_app, memory_tenant, memory_worker, memory_reader and memory_admin.
--
-- For servers where the owner of schema memory may not create roles. An administrator runs this file, which needs
-- CREATEROLE, in the database of agent_memory; then the owner runs agent_memory.sql, which grants them their rights.
--   psql -qX -v ON_ERROR_STOP=1 -d app -f agent_memory_roles.sql          or          agent-memory install --roles
-- Running it again changes nothing.
begin;
-- Creates the roles of agent_memory, which all databases of a server share. Another session may create them at the same
-- time, so a role that has just come is no error.
do $roles$
declare
  missing name;
begin
  for missing in
    select r.name
    from (values ('memory_app'), ('memory_tenant'), ('memory_admin'), ('memory_worker'), ('memory_reader')) as r (name)
    where pg_catalog.to_regrole(r.name) is null
  loop
    begin
      execute pg_catalog.format('create role %I nologin', missing);
      execute pg_catalog.format('comment on role %I is %L', missing,
        'For login roles of agent_memory, in all databases of this server. What members may do: docs/operations.md');
    exception
      when duplicate_object or unique_violation then
        null;
      when insufficient_privilege then
        raise exception 'role "%" is missing, and role "%" may not create it', missing, current_user
          using errcode = '42501',
            hint = 'An administrator runs "agent-memory install --roles". Everything else works without it.';
    end;
  end loop;
end;
$roles$;

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
