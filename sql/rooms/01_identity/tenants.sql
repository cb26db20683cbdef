-- A tenant's session reaches one user only. Its login role is a member of memory_tenant. memory.bound_roles names the
-- user of the role, or else the token in agent_memory.token does. The checks look at the role that has logged in:
-- functions run as the owner, so current_user does not show the caller, and RESET ROLE undoes SET ROLE. A login role
-- that could become a member of memory_tenant by SET ROLE counts as a member.

-- Whether this session belongs to a tenant. The second term is false for superusers, who are members of all roles, and
-- for roles that may create objects in the schema, because these roles can replace the checks. The function takes 0.3
-- us if the role is no member.
create or replace function memory._is_tenant()
returns boolean
language sql stable parallel safe
begin atomic
  select {{is tenant}};
end;

-- Whether this session may name this user. The function raises 42501 in a tenant's session that has no user.
create or replace function memory._may_reach(p_user_id text)
returns boolean
language sql stable parallel safe
begin atomic
  select case when memory._is_tenant() then memory._user_of_tenant() = p_user_id else true end;
end;
