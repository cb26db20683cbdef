-- Says which sessions may reach other users: all except those of tenants, each of which reaches one user only. The
-- login role of a tenant is a member of memory_tenant, or of the role that has its place in this database (roles.sql).
-- memory._user_of_tenant() says which user a tenant's session reaches. The role that has logged in decides who is a
-- tenant: functions run as the owner, so current_user does not show the caller, and RESET ROLE undoes SET ROLE. A login
-- role that could become a member of memory_tenant by SET ROLE counts as a member.

-- Whether this session belongs to a tenant. The second term is false for superusers, who are members of all roles, and
-- for roles that may create objects in the schema, because these roles can replace the checks. The build copies the
-- expression into the policies of the tables, because a policy may call only functions of pg_catalog. The function
-- takes 0.3 us if the role is no member.
create or replace function memory._is_tenant()
returns boolean
language sql stable parallel safe
begin atomic
  select pg_has_role(session_user, to_regrole(memory._role_name('tenant')), 'member') is true
    and not has_schema_privilege(session_user, 'memory', 'create');
end;

-- Whether this session may name this user. The function raises 42501 in a tenant's session that has no user. The result
-- is false for every space: memory._check_id() then looks the space up, so a call for a user costs only one comparison.
create or replace function memory._may_reach(p_user_id text)
returns boolean
language sql stable parallel unsafe
begin atomic
  select case
    when memory._is_space(p_user_id) then false
    when memory._is_tenant() then memory._user_of_tenant() = p_user_id
    else true end;
end;
