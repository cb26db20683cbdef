-- Tokens of tenants are JSON Web Tokens (RFC 7519), signed with HMAC-SHA256. Plain SQL verifies them, because pgcrypto
-- may be missing. Each call verifies the token anew, because a session can change every value that it stores.

-- The user that this tenant's session reaches: that of its bound role, or of its token, from the claim sub. Refuses a
-- session without either. A token counts if it is signed with a key of memory.token_keys and valid now. This verifies
-- the form that most libraries make, and leaves others to memory._user_of_unusual_token(), which takes half as many
-- instructions again. PostgreSQL prepares each expression anew in each transaction, so the number of function calls in
-- the expressions decides the cost. split_part() and replace() do not look at each character, as left() and
-- translate() do. The statements have no arguments, because PostgreSQL may plan a statement with arguments in each
-- call, which takes 20 us. The check adds 2 % to the instructions of add_message for a bound role and 26 % for a token
-- (PostgreSQL 15).
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

-- The user of a token with another header, with further claims on its time, or with the signature of the previous key.
-- The function refuses any other token.
create or replace function memory._user_of_unusual_token(p_token text, p_has_key boolean)
returns text
language plpgsql stable parallel unsafe
as $$
declare
  head text;
  body text;
  header jsonb;
  claims jsonb;
begin
  if (octet_length(p_token) <= 8192 and p_token ~ '^[A-Za-z0-9_-]+[.][A-Za-z0-9_-]+[.][A-Za-z0-9_-]+$') is not true then
    perform memory._refuse_token(case
      when coalesce(p_token, '') = '' then 'is not set, and this role is bound to no user'
      when octet_length(p_token) > 8192 then format('has %s bytes, at most 8192 are allowed', octet_length(p_token))
      else 'is not a JSON Web Token: three parts in base64url, with points between them' end);
  end if;
  head := split_part(p_token, '.', 1);
  body := split_part(p_token, '.', 2);
  perform from memory.token_keys as k
  where memory._is_same_secret(memory._signature(head || '.' || body, k.inner_block, k.outer_block),
                               split_part(p_token, '.', 3));
  if not found then
    perform memory._refuse_token(case when p_has_key then 'is not signed with the key of this database'
                                      else 'cannot be verified: this database has no key' end);
  end if;

  begin -- the holder of the key may have signed any text as header
    header := memory._from_base64url(head)::jsonb;
    claims := memory._from_base64url(body)::jsonb;
  exception
    when data_exception or program_limit_exceeded then
      perform memory._refuse_token('holds no JSON');
  end;
  perform memory._check_claims(header, claims, extract(epoch from clock_timestamp()));
  return claims ->> 'sub';
end;
$$;

-- Refuses a token that names no user, or is not valid at a moment in seconds since 1970.
create or replace function memory._check_claims(p_header jsonb, p_claims jsonb, p_moment numeric)
returns void
language plpgsql stable parallel safe
as $$
begin
  if (p_header ->> 'alg' = 'HS256' and not p_header ? 'crit') is not true then
    perform memory._refuse_token('is not signed by HS256');
  elsif (jsonb_typeof(p_claims -> 'sub') = 'string' and memory._is_id(p_claims ->> 'sub')) is not true then
    perform memory._refuse_token('names no user: the claim sub must have 1 to 255 characters');
  elsif (jsonb_typeof(p_claims -> 'exp') = 'number') is not true then
    perform memory._refuse_token('never expires: the claim exp must say when it does');
  elsif (p_claims -> 'exp')::numeric <= p_moment then
    perform memory._refuse_token('has expired');
  elsif p_claims ? 'nbf' and jsonb_typeof(p_claims -> 'nbf') <> 'number' then
    perform memory._refuse_token('has a claim nbf that is not a number');
  elsif p_claims ? 'nbf' and (p_claims -> 'nbf')::numeric > p_moment then
    perform memory._refuse_token('is not valid yet');
  end if;
end;
$$;

-- The signature of a text by the algorithm HS256: its HMAC-SHA256 (RFC 2104) in base64url, which always has 43
-- characters.
create or replace function memory._signature(p_signed text, p_inner_block bytea, p_outer_block bytea)
returns text
language sql stable parallel safe -- convert_to() is stable
begin atomic
  select left(replace(replace(
    encode(memory._hmac_sha256(convert_to(p_signed, 'UTF8'), p_inner_block, p_outer_block), 'base64'),
    '+', '-'), '/', '_'), 43);
end;

-- Whether two texts are equal. The time that the comparison takes does not give a secret text away, because the
-- function first compares the 64-bit hashes. A wrong text has the right hash once in 2^64.
create or replace function memory._is_same_secret(p_text text, p_other text)
returns boolean
language sql immutable parallel safe
begin atomic
  select hashtextextended(p_text, 0) = hashtextextended(p_other, 0) and p_text = p_other;
end;

-- The text that a text in base64url without padding (RFC 4648) encodes in UTF-8; raises data_exception for other texts.
create or replace function memory._from_base64url(p_text text)
returns text
language sql stable parallel safe -- convert_from() is stable
begin atomic
  select convert_from(decode(
    rpad(replace(replace(p_text, '-', '+'), '_', '/'), (octet_length(p_text) + 3) & -4, '='), 'base64'), 'UTF8');
end;

create or replace function memory._refuse_token(p_problem text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('agent_memory.token', p_problem,
    'Within the transaction, pass the token that your server has made: '
    'select set_config(''agent_memory.token'', $1, true). See docs/tenants.md.', '42501');
end;
$$;
