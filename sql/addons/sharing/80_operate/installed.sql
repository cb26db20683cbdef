-- Runs after an installation or an upgrade. Grants the new rights of memory_tenant to roles whose claims count
-- (memory.trust_claims()) and which inherit nothing from memory_tenant.
create or replace function memory._sharing_installed()
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  bound name;
begin
  -- Finds bound roles that are no tenants in this database, because the tenants' role has got another name.
  for bound in
    select b.role_name from memory.bound_roles as b join pg_roles as r on r.rolname = b.role_name
    where not pg_has_role(r.oid, to_regrole(memory._role_name('tenant')), 'member')
  loop
    begin
      perform memory._make_tenant(bound);
    exception when insufficient_privilege then
      raise warning '%', sqlerrm using hint = 'Until somebody grants that, the role has no rights here.';
    end;
  end loop;
  perform memory._grant_as_to_tenants(b.role_name)
  from memory.bound_roles as b join pg_roles as r on r.rolname = b.role_name
  where b.claims_setting is not null and pg_has_role(r.oid, to_regrole(memory._role_name('tenant')), 'usage') is false;
end;
$$;
