create or replace function memory.unbind_role(role_name name)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.bound_roles as b where b.role_name = unbind_role.role_name;
  if not found then
    perform memory._refuse('role_name',
      case when role_name is null then 'must not be null' else format('role "%s" is not bound', role_name) end,
      'memory.bound_roles lists the bound roles.', case when role_name is null then '22023' else 'P0002' end);
  end if;
  perform memory._audit('unbind_role', jsonb_build_object('role_name', role_name));
end;
$$;
comment on function memory.unbind_role(name) is
'Ends the binding of a role, also of one that was dropped, or the trust in its claims. The role stays a member of '
'memory_tenant, so it reaches nobody until it is bound again or has a token. Error P0002 when it is not bound.';
