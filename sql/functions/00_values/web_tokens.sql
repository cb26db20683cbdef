-- Tokens of tenants: JSON Web Tokens (RFC 7519) that are signed with HMAC-SHA256. They are verified in plain SQL,
-- because pgcrypto may be missing, and anew in each call, because a session can change whatever it would remember.

-- The user of a token, its claim sub. Refuses a token that is not signed with our key, or is not valid now. The blocks
-- are those of the key in memory.token_keys; a token that is signed with the previous one counts as well.
create or replace function memory._user_of_token(p_token text, p_inner_block bytea, p_outer_block bytea)
returns text
language plpgsql stable parallel unsafe
as $$
declare
  head text;
  body text;
  signature text;
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
  signature := split_part(p_token, '.', 3);
  -- Two statements, because PL/pgSQL takes 4 us more to evaluate an expression with a subquery.
  if memory._is_signature(signature, head || '.' || body, p_inner_block, p_outer_block) is not true then
    perform from memory.token_keys as k
    where k.is_previous and memory._is_signature(signature, head || '.' || body, k.inner_block, k.outer_block);
    if not found then
      perform memory._refuse_token(case when p_inner_block is null then 'cannot be verified: this database has no key'
                                        else 'is not signed with the key of this database' end);
    end if;
  end if;

  begin -- whoever has the key may have signed anything
    header := memory._from_base64url(head)::jsonb;
    claims := memory._from_base64url(body)::jsonb;
  exception
    when data_exception or program_limit_exceeded then
      perform memory._refuse_token('holds no JSON');
  end;
  -- The usual token passes this one expression, because the checks one by one take 2 us.
  if (header ->> 'alg' = 'HS256' and not header ? 'crit' and jsonb_typeof(claims -> 'sub') = 'string'
      and memory._is_id(claims ->> 'sub') and jsonb_typeof(claims -> 'exp') = 'number'
      and (claims -> 'exp')::numeric > extract(epoch from clock_timestamp()) and not claims ? 'nbf') is not true then
    perform memory._check_claims(header, claims, extract(epoch from clock_timestamp()));
  end if;
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

-- Whether this is the signature of a text. Hashes of both are compared, so that the time which the comparison takes
-- says nothing of the right signature. Inlined by the planner, hence no SET clause.
create or replace function memory._is_signature(
  p_signature text, p_signed text, p_inner_block bytea, p_outer_block bytea
)
returns boolean
language sql stable parallel safe -- convert_to() is stable
begin atomic
  select sha256(p_outer_block || convert_to(p_signature, 'UTF8')) = sha256(p_outer_block || convert_to(translate(encode(
    sha256(p_outer_block || sha256(p_inner_block || convert_to(p_signed, 'UTF8'))), 'base64'), '+/=', '-_'), 'UTF8'));
end;

-- The text in UTF-8 that a text in base64url without padding (RFC 4648) stands for; data_exception where it is none.
-- Inlined by the planner, hence no SET clause.
create or replace function memory._from_base64url(p_text text)
returns text
language sql stable parallel safe -- convert_from() is stable
begin atomic
  select convert_from(decode(translate(p_text, '-_', '+/') || repeat('=', -length(p_text) & 3), 'base64'), 'UTF8');
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
