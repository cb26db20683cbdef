-- For memory.doctor(): roles that are missing, or that give their members rights in other databases too although no
-- administrator has said so, and bindings that bind nobody or do not hold.
create or replace function memory._check_roles()
returns table (ok boolean, detail text)
language plpgsql stable parallel safe
as $$
declare
  pattern constant text := memory._role_name('*');
  missing constant text := (
    select string_agg(memory._role_name(r.name), ', ')
    from (values {{roles}}) as r (name) where to_regrole(memory._role_name(r.name)) is null);
  shared_with constant text := {{databases of pattern}};
  gone constant text := (
    select string_agg(format('role "%s" is bound and does not exist: run "select memory.unbind_role(%L)"',
                             b.role_name, b.role_name), '; ' order by b.role_name)
    from memory.bound_roles as b
    where not exists (select from pg_roles as r where r.rolname = b.role_name));
  mighty constant text := (
    select string_agg(format('"%s"', r.rolname), ', ' order by r.rolname)
    from memory.bound_roles as b join pg_roles as r on r.rolname = b.role_name
    where r.rolsuper or r.rolbypassrls or has_schema_privilege(r.oid, 'memory', 'create')
      or pg_has_role(r.oid, to_regrole(memory._role_name('tenant')), 'member') is not true
      or pg_has_role(r.oid, to_regrole(memory._role_name('worker')), 'member')
      or pg_has_role(r.oid, to_regrole(memory._role_name('admin')), 'member'));
begin
  if gone is not null then
    return query select false, gone;
  elsif mighty is not null then
    return query select false,
      format('bound roles that may reach other users all the same: %s; see docs/tenants.md', mighty);
  elsif shared_with is not null
    and current_setting('agent_memory.role_prefix', true) || '_*' is distinct from pattern then
    return query select false,
      format('members of %s, ... have the rights of these roles in these databases too: %s; docs/roles.md says '
             'how this database gets roles of its own', memory._role_name('app'), shared_with);
  elsif missing is not null then
    return query select true, format('missing: %s; "agent-memory install --roles" creates them', missing);
  else
    return query
    select true, format('%s, ... are all there%s; %s bound to a user', memory._role_name('app'),
      ', shared with ' || shared_with, count(b.user_id))
    from memory.bound_roles as b;
  end if;
end;
$$;
