-- For memory.doctor(): roles that are missing, roles that give their members rights in other databases too although no
-- administrator has allowed it, and problems of bound roles.
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
  bound constant record := memory._check_bindings();
begin
  if bound.fault is not null then
    return query select false, bound.fault;
  elsif shared_with is not null
    and current_setting('agent_memory.role_prefix', true) || '_*' is distinct from pattern then
    return query select false,
      format('members of %s, ... have the rights of these roles in these databases too: %s; docs/roles.md says '
             'how this database gets roles of its own', memory._role_name('app'), shared_with);
  elsif missing is not null then
    return query select true, format('missing: %s; "agent-memory install --roles" creates them', missing);
  else
    return query
    select true, concat(memory._role_name('app'), ', ... are all there', ', shared with ' || shared_with, bound.note);
  end if;
end;
$$;
