-- Row security is for roles that were granted rights on tables: functions run as the owner, who passes by it. Each of
-- our tables with a column user_id gets three policies:
--   any_user    whoever is no tenant sees the rows of all users;
--   tenants     members of memory_tenant (or what that role is named here) see rows at all, if own_user agrees;
--   own_user    of these, a member sees those of the session's user only. A restrictive policy, because the planner can
--               use an index for it, which it cannot for "any_user or own_user".
-- A session of a tenant whose current role is no member of memory_tenant sees nothing. The expression of any_user names
-- only functions of pg_catalog, because it is evaluated with the rights of whoever reads the table.
--
-- The statements that are still to be run, so that running this file again locks no table.
create or replace function memory._missing_row_security()
returns table (statement text)
language sql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('alter table %s enable row level security', c.oid::regclass)
  from pg_class as c
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r' and c.relname = any (array[{{tables with user}}])
    and not c.relrowsecurity
  union all
  select format('drop policy if exists %1$I on %2$s; create policy %1$I on %2$s %3$s; '
                'comment on policy %1$I on %2$s is %4$L', p.name, c.oid::regclass, p.definition, p.definition)
  from pg_class as c
  cross join (values (memory._role_name('tenant'))) as tenant (role)
  cross join lateral (
    values ('any_user', replace('to public using ((select not ({{is tenant}})))', 'memory._role_name(''tenant'')',
        quote_literal(tenant.role))),
      ('tenants', format('to %s using (true)', tenant.role)),
      ('own_user', format('as restrictive to %s using (user_id = (select memory.tenant_user()))', tenant.role))
  ) as p (name, definition)
  where c.relnamespace = 'memory'::regnamespace and c.relkind = 'r'
    and c.relname = any (array[{{tables with policies}}])
    and (p.definition like 'to public %' or to_regrole(tenant.role) is not null)
    and not exists (
      select from pg_policy as existing
      where existing.polrelid = c.oid and existing.polname = p.name
        and obj_description(existing.oid, 'pg_policy') = p.definition);
$$;
