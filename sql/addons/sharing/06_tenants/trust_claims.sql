create or replace function memory.trust_claims(role_name name, setting text default 'request.jwt.claims')
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  believed text;
begin
  if (length(setting) <= 255 and setting ~ '^[A-Za-z_][A-Za-z0-9_$]*([.][A-Za-z_][A-Za-z0-9_$]*)+$') is not true then
    perform memory._refuse('setting', 'is not the name of a setting of your own',
      'Pass two words or more with points between them, such as request.jwt.claims.');
  end if;
  perform memory._check_role_to_bind(role_name, true);
  insert into memory.bound_roles as b (role_name, claims_setting)
  values (trust_claims.role_name, trust_claims.setting)
  on conflict on constraint bound_roles_pkey do update
  set claims_setting = excluded.claims_setting where b.user_id is null;
  if not found then
    perform memory._refuse('role_name', format('role "%s" is bound to a user', role_name),
      'Call memory.unbind_role() first.', '23505');
  end if;
  perform memory._make_tenant(role_name);
  if not pg_has_role(role_name, memory._role_name('tenant'), 'usage') then
    perform memory._grant_as_to_tenants(role_name);
  end if;
  perform memory._audit('trust_claims', jsonb_build_object('role_name', role_name, 'setting', setting));
  believed := (
    select string_agg(quote_ident(r.rolname), ', ' order by r.rolname)
    from pg_roles as r
    where r.rolcanlogin and pg_has_role(r.oid, trust_claims.role_name, 'member')
      and not has_schema_privilege(r.oid, 'memory', 'create'));
  raise notice 'whoever logs in as % and sets the role "%" says by % which user that is',
    coalesce(believed, '(nobody yet)'), role_name, setting
    using hint = 'Let nobody but your gateway log in so. Their sessions are tenants from now on, in every role.';
end;
$$;
comment on function memory.trust_claims(name, text) is
'Believes the claims of a verified JSON Web Token that a gateway such as PostgREST puts into a setting: a session of '
'another login role whose current role is this one reaches the user of the claim sub only, until exp. The role becomes '
'a member of memory_tenant; a NOTICE names who can say so. memory.unbind_role() ends it. Error 23505 for a bound role.';

-- Grants the rights of memory_tenant's members to a role that inherits nothing.
create or replace function memory._grant_as_to_tenants(p_role_name name)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  function regprocedure;
begin
  execute format('grant usage on schema memory to %I', p_role_name);
  for function in
    select p.oid::regprocedure from pg_proc as p
    where p.pronamespace = 'memory'::regnamespace and p.prokind = 'f'
      and has_function_privilege(memory._role_name('tenant'), p.oid, 'execute')
      and not has_function_privilege(p_role_name, p.oid, 'execute')
  loop
    execute format('grant execute on function %s to %I', function, p_role_name);
  end loop;
end;
$$;
