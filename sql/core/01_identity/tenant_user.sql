create or replace function memory.tenant_user()
returns text
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  own constant text := case when memory._is_tenant() then memory._user_of_tenant() end;
begin
  if memory._is_space(own) then -- row security would show a space to the session
    perform memory._refuse_token('names a space, and a session is that of a user');
  end if;
  return own;
end;
$$;
comment on function memory.tenant_user() is
'The only user that this session reaches: that of its bound role, of its claims, or of the token in '
'agent_memory.token. null in a session that may reach all users. Error 42501 where a tenant''s session has no '
'valid token.';
