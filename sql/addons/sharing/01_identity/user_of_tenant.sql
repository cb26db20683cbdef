-- The user that this tenant's session reaches: the user of its bound role, of the claims of its current role, or of its
-- token (claim sub). Refuses a session without any of these. A token counts if it is signed with a key of
-- memory.token_keys and valid now. This function verifies tokens of the form that most libraries make, and leaves
-- others to memory._user_of_unusual_token(), which takes half as many instructions again.
--
-- PostgreSQL prepares each expression anew in each transaction, so the number of function calls in the expressions
-- decides the cost. split_part() and replace() do not read each character, as left() and translate() do. The statements
-- have no arguments, because PostgreSQL may plan a statement with arguments in each call, which takes 20 us. The check
-- adds 2 % to the instructions of add_message for a bound role and 26 % for a token (PostgreSQL 15).
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
    if memory._is_same_secret(signed, token) then -- PostgreSQL inlines this for variables
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
