-- Who may reach another user: every session except a tenant's, which reaches one user only. The login role of a tenant
-- is a member of memory_tenant, or of the role of another name that stands for that one in this database (roles.sql).
-- memory.bound_roles names the user of the role, or else claims do (claims.sql), or else the token in
-- agent_memory.token does (web_tokens.sql). The role that has logged in decides who is a tenant: functions run as the
-- owner, so current_user does not show the caller, and RESET ROLE undoes SET ROLE. A login role that could become a
-- member of memory_tenant by SET ROLE counts as a member.

-- Whether this session belongs to a tenant. The second term is false for superusers, who are members of all roles, and
-- for roles that may create objects in the schema, because these roles can replace the checks. The build copies the
-- expression into the policies of the tables, which may call only functions of pg_catalog. The function takes 0.3 us if
-- the role is no member.
create or replace function memory._is_tenant()
returns boolean
language sql stable parallel safe
begin atomic
  select pg_has_role(session_user, to_regrole(memory._role_name('tenant')), 'member') is true
    and not has_schema_privilege(session_user, 'memory', 'create');
end;

-- The user that this tenant's session reaches: that of its bound role, of the claims of its current role, or of its
-- token, from the claim sub. Refuses a session without any. A token counts if it is signed with a key of
-- memory.token_keys and valid now. This verifies the form that most libraries make, and leaves others to
-- memory._user_of_unusual_token(), which takes half as many instructions again. PostgreSQL prepares each expression
-- anew in each transaction, so the number of function calls in the expressions decides the cost. split_part() and
-- replace() do not look at each character, as left() and translate() do. The statements have no arguments, because
-- PostgreSQL may plan a statement with arguments in each call, which takes 20 us. The check adds 2 % to the
-- instructions of add_message for a bound role and 26 % for a token (PostgreSQL 15).
create or replace function memory._user_of_tenant()
returns text
language plpgsql stable parallel unsafe
as $$
declare
  bound_to text;
  inner_block bytea;
  outer_block bytea;
  token text;
  head text;
  body text;
  signed text;
  claims jsonb;
begin
  select b.user_id into bound_to from memory.bound_roles as b where b.role_name = session_user;
  if bound_to is not null then
    return bound_to;
  end if;
  if current_setting('role') <> 'none' then
    bound_to := memory._user_of_claims();
    if bound_to is not null then
      return bound_to;
    end if;
  end if;
  select k.inner_block, k.outer_block into inner_block, outer_block
  from memory.token_keys as k where not k.is_previous;
  token := current_setting('agent_memory.token', true);
  head := split_part(token, '.', 1);
  if head in (
    'eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9', -- {"alg":"HS256","typ":"JWT"}
    'eyJ0eXAiOiJKV1QiLCJhbGciOiJIUzI1NiJ9', -- {"typ":"JWT","alg":"HS256"}
    'eyJhbGciOiJIUzI1NiJ9')                 -- {"alg":"HS256"}
  then
    body := split_part(token, '.', 2);
    signed := head || '.' || body;
    signed := signed || '.' || memory._signature(signed, inner_block, outer_block);
    if memory._is_same_secret(signed, token) then -- which PostgreSQL inlines for variables
      begin -- the holder of the key may have signed any text as payload
        claims := memory._from_base64url(body)::jsonb;
      exception
        when data_exception or program_limit_exceeded then
          perform memory._refuse_token('holds no JSON');
      end;
      if claims @@ '$.sub.type() == "string" && $.exp.type() == "number" && !exists($.nbf)'
        and memory._is_id(claims ->> 'sub')
        and (claims -> 'exp')::numeric > extract(epoch from clock_timestamp()) then
        return claims ->> 'sub';
      end if;
    end if;
  end if;
  return memory._user_of_unusual_token(token, inner_block is not null);
end;
$$;

-- Whether this session may name this user. The function raises 42501 in a tenant's session that has no user. It is
-- false for every space, because memory._check_id() looks spaces up: other users pay for one comparison.
create or replace function memory._may_reach(p_user_id text)
returns boolean
language sql stable parallel unsafe
begin atomic
  select case
    when memory._is_space(p_user_id) then false
    when memory._is_tenant() then memory._user_of_tenant() = p_user_id
    else true end;
end;
