-- For the doctor's check of roles: bindings that bind nobody or have no effect, and how many roles are bound to a user.
create or replace function memory._check_bindings(out fault text, out note text)
language plpgsql stable parallel safe
as $$
begin
  fault := (
    select string_agg(format('role "%s" is bound and does not exist: run "select memory.unbind_role(%L)"',
                             b.role_name, b.role_name), '; ' order by b.role_name)
    from memory.bound_roles as b
    where not exists (select from pg_roles as r where r.rolname = b.role_name));
  fault := coalesce(fault, 'bound roles that may reach other users all the same: ' || (
    select string_agg(format('"%s"', r.rolname), ', ' order by r.rolname)
    from memory.bound_roles as b join pg_roles as r on r.rolname = b.role_name
    where r.rolsuper or r.rolbypassrls or has_schema_privilege(r.oid, 'memory', 'create')
      or pg_has_role(r.oid, to_regrole(memory._role_name('tenant')), 'member') is not true
      or pg_has_role(r.oid, to_regrole(memory._role_name('worker')), 'member')
      or pg_has_role(r.oid, to_regrole(memory._role_name('admin')), 'member')) || '; see docs/tenants.md');
  note := (select format('; %s bound to a user', count(b.user_id)) from memory.bound_roles as b);
end;
$$;
