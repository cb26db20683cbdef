-- The doctor's check of privileges: PUBLIC has none, only the owner creates objects in the schema or changes whole
-- tables, and nobody reads a table of all users' texts past row security. Roles are meant to call functions;
-- docs/roles.md lists them.
create or replace function memory._check_privileges(out ok boolean, out detail text)
language plpgsql stable parallel safe
as $$
declare
  public_functions constant bigint := (
    select count(*) from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace
      and p.proname <> '_changes_whole_user' -- writers call this one in the condition of triggers
      and exists (select from aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) as a where a.grantee = 0));
begin
  select string_agg(f.fault, '; ' order by f.fault) into detail
  from (
    select format('PUBLIC may call %s functions: run "agent-memory install" (a restore without privileges lost them)',
                  public_functions) as fault
    where public_functions > 0
    union all
    select format('%s may create objects in the schema: run "revoke create on schema memory from %1$s"',
      case g.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(g.grantee)) end)
    from pg_namespace as n
    cross join lateral aclexplode(n.nspacl) as g
    where n.oid = 'memory'::regnamespace and g.privilege_type = 'CREATE' and g.grantee <> n.nspowner
    union all
    select format('%s may %s %s %s: run "revoke %2$s on %4$s from %1$s"', g.grantee,
      string_agg(lower(g.privilege), ', ' order by g.privilege),
      case when bool_and(g.privilege = 'SELECT') then 'all rows of' else 'on' end, g.relation)
    from (
      select g.grantee, g.privilege, c.oid::regclass as relation
      from pg_class as c
      cross join lateral (
        select case a.grantee when 0 then 'public' else quote_ident(pg_get_userbyid(a.grantee)) end as grantee,
          a.privilege_type as privilege
        from aclexplode(c.relacl) as a where a.grantee <> c.relowner) as g
      where c.relnamespace = 'memory'::regnamespace and c.relkind in ('r', 'v')
        and case
          when g.grantee = 'public' then true
          when c.relkind = 'v' then g.privilege <> 'SELECT'
          when g.grantee in (select memory._role_name(r.name)
                             from (values {{roles}}) as r (name)) then g.privilege = 'TRUNCATE'
          when g.privilege = 'SELECT' then not c.relrowsecurity
            and c.relname not in ('audit', 'secret_reads', 'changes', 'new_changes')
            and exists (select from pg_attribute as a
                        where a.attrelid = c.oid and a.attname = 'user_id' and not a.attisdropped)
          else true
        end) as g
    group by g.grantee, g.relation) as f;
  ok := detail is null;
  detail := coalesce(detail, 'PUBLIC may call nothing but _changes_whole_user(), which triggers ask') || case when (
      select r.rolsuper from pg_namespace as n join pg_roles as r on r.oid = n.nspowner
      where n.oid = 'memory'::regnamespace)
    then '; the schema belongs to a superuser, with whose rights its functions run' else '' end;
end;
$$;
