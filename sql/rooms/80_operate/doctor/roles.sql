-- For memory.doctor(): roles that are missing, and bindings that bind nobody or do not hold.
create or replace function memory._check_roles()
returns table (ok boolean, detail text)
language plpgsql stable parallel safe
as $$
declare
  missing constant text := (
    select string_agg(r.name, ', ')
    from (values {{roles}}) as r (name) where to_regrole(r.name) is null);
  gone constant text := (
    select string_agg(format('role "%s" is bound and does not exist: run "select memory.unbind_role(%L)"',
                             b.role_name, b.role_name), '; ' order by b.role_name)
    from memory.bound_roles as b
    where not exists (select from pg_roles as r where r.rolname = b.role_name));
  mighty constant text := (
    select string_agg(format('"%s"', r.rolname), ', ' order by r.rolname)
    from memory.bound_roles as b join pg_roles as r on r.rolname = b.role_name
    where r.rolsuper or r.rolbypassrls or has_schema_privilege(r.oid, 'memory', 'create')
      or pg_has_role(r.oid, to_regrole('memory_tenant'), 'member') is not true
      or pg_has_role(r.oid, to_regrole('memory_worker'), 'member')
      or pg_has_role(r.oid, to_regrole('memory_admin'), 'member'));
begin
  if gone is not null then
    return query select false, gone;
  elsif mighty is not null then
    return query select false,
      format('bound roles that may reach other users all the same: %s; see docs/tenants.md', mighty);
  elsif missing is not null then
    return query select true, format('missing: %s; "agent-memory install --roles" creates them', missing);
  else
    return query
    select true, format('all of agent_memory''s are there; %s bound to a user', count(b.user_id))
    from memory.bound_roles as b;
  end if;
end;
$$;
