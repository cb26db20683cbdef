-- agent_memory 1.0.0: the roles memory_app, memory_tenant, memory_worker, memory_reader and memory_admin, or what
-- they are named in this database (docs/roles.md).
--
-- For servers where the owner of schema memory may not create roles. An administrator runs this file, which needs
-- CREATEROLE, in the database of agent_memory; then the owner runs agent_memory.sql, which grants them their rights.
--   psql -qX -v ON_ERROR_STOP=1 -d app -f agent_memory_roles.sql          or          agent-memory install --roles
-- Running it again changes nothing.
begin;
set local search_path = pg_catalog, pg_temp;
-- Names the roles of agent_memory and creates those that are missing. Roles belong to the server, not to a database:
-- whoever is a member of a role has its rights in each database that grants the role any. So two installations share
-- no roles unless an administrator says so; two in one database have other names, because those begin with the name of
-- the schema. In the names, * stands for app, tenant and so on:
--   <prefix>_*              where agent_memory.role_prefix is set: shared with all databases that set the same prefix;
--   as they are             in an installation that has roles already;
--   memory_*                where no other database of the server has granted these roles anything;
--   memory_*_<database>     elsewhere.
-- The function _role_name keeps the names, and a dump contains that function.
do $roles$
declare
  prefix constant text := nullif(current_setting('agent_memory.role_prefix', true), '');
  pattern text := 'memory_*';
  missing name;
begin
  if prefix !~ '^[a-z_][a-z0-9_]{0,55}$' then
    raise exception 'agent_memory.role_prefix: % is no prefix', quote_literal(prefix)
      using errcode = '22023', hint = 'Set at most 56 small letters, digits and underscores, with no digit first.';
  elsif prefix is not null then
    pattern := prefix || '_*';
  elsif (
    select string_agg(distinct d.datname, ', ' order by d.datname)
    from pg_shdepend as s join pg_database as d on d.oid = s.dbid and d.datname <> current_database()
    where s.refclassid = 'pg_authid'::regclass and s.refobjid in (
      select to_regrole(replace(pattern, '*', r.name))
      from (values ('app'), ('tenant'), ('admin'), ('worker'), ('reader')) as r (name))) is not null then
    pattern := 'memory_*_' || left(
      regexp_replace(lower(current_database()), '[^a-z0-9_]', '_', 'g'), 57 - length('memory_*'));
  end if;
  if prefix is null then
    select coalesce(min(substring(p.prosrc from '[a-z0-9_]+[*][a-z0-9_]*')), pattern) into pattern
    from pg_proc as p join pg_namespace as n on n.oid = p.pronamespace
    where n.nspname = 'memory' and p.proname = '_role_name';
  end if;
  perform set_config('agent_memory.role_names', pattern, true);

  for missing in
    select replace(pattern, '*', r.name)
    from (values ('app'), ('tenant'), ('admin'), ('worker'), ('reader')) as r (name)
    where to_regrole(replace(pattern, '*', r.name)) is null
  loop
    begin
      execute format('create role %I nologin', missing);
      execute format('comment on role %I is %L', missing,
        'For login roles of agent_memory, in each database that uses this role. What members may do: '
        'docs/operations.md');
    exception
      when duplicate_object or unique_violation then -- another session may create the same role at the same time
        null;
      when insufficient_privilege then
        raise exception 'role "%" is missing, and role "%" may not create it', missing, current_user
          using errcode = '42501',
            hint = 'An administrator runs "agent-memory install --roles". Everything else works without it.';
    end;
  end loop;
end;
$roles$;

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
