-- A tenant's session reaches one user only. Its login role is a member of memory_tenant; which user that is says
-- memory.bound_roles, or else the token in agent_memory.token. Functions run as the owner, so current_user says nothing
-- of the caller, and SET ROLE can be undone by RESET ROLE: what counts is the role that has logged in. A login role
-- that could become a member of memory_tenant by SET ROLE counts as one.

-- Whether this session is a tenant's. Superusers are members of all roles, and whoever may create objects in the schema
-- can replace these checks: for both the second term is false. It takes 0.3 us where the role is no member.
create or replace function memory._is_tenant()
returns boolean
language sql stable parallel safe
begin atomic
  select {{is tenant}};
end;

-- The user that this session of a tenant reaches. Refuses when it has none. For a bound role it adds 2 % to the
-- instructions of add_message, for a token 20 % (PostgreSQL 15). The table is asked by a statement without arguments,
-- because one with arguments may be planned in each call, which takes 20 us.
create or replace function memory._user_of_tenant()
returns text
language plpgsql stable parallel unsafe
as $$
declare
  bound_to text;
begin
  select b.user_id into bound_to from memory.bound_roles as b where b.role_name = session_user;
  if bound_to is not null then
    return bound_to;
  end if;
  return memory._user_of_token(current_setting('agent_memory.token', true));
end;
$$;

-- Whether this session may name this user. Raises 42501 in a tenant's session that has no user.
create or replace function memory._may_reach(p_user_id text)
returns boolean
language sql stable parallel safe
begin atomic
  select case when memory._is_tenant() then memory._user_of_tenant() = p_user_id else true end;
end;
