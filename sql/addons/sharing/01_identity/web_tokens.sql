-- The tokens of tenants are JSON Web Tokens (RFC 7519), signed with HMAC-SHA256. Plain SQL verifies them, because
-- pgcrypto may be missing. Each call verifies the token anew, because a session can change every value that it stores.

-- The user of a token that has another header, further claims about its time, or the signature of the previous key. The
-- function refuses any other token.
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
  if (header ->> 'alg' = 'HS256' and not header ? 'crit') is not true then
    perform memory._refuse_token('is not signed by HS256');
  end if;
  perform memory._check_claims(claims);
  return claims ->> 'sub';
end;
$$;

-- Refuses claims that name no user, or are not valid now. p_setting is the setting from which the claims come.
create or replace function memory._check_claims(p_claims jsonb, p_setting text default 'agent_memory.token')
returns void
language plpgsql stable parallel safe
as $$
declare
  moment constant numeric := extract(epoch from clock_timestamp()); -- in seconds since 1970, as in claims
begin
  if (jsonb_typeof(p_claims -> 'sub') = 'string' and memory._is_id(p_claims ->> 'sub')) is not true then
    perform memory._refuse_token('names no user: the claim sub must have 1 to 255 characters', p_setting);
  elsif (jsonb_typeof(p_claims -> 'exp') = 'number') is not true then
    perform memory._refuse_token('never expires: the claim exp must say when it does', p_setting);
  elsif (p_claims -> 'exp')::numeric <= moment then
    perform memory._refuse_token('has expired', p_setting);
  elsif p_claims ? 'nbf' and jsonb_typeof(p_claims -> 'nbf') <> 'number' then
    perform memory._refuse_token('has a claim nbf that is not a number', p_setting);
  elsif p_claims ? 'nbf' and (p_claims -> 'nbf')::numeric > moment then
    perform memory._refuse_token('is not valid yet', p_setting);
  end if;
end;
$$;

-- The signature of a text by the algorithm HS256: its HMAC-SHA256 (RFC 2104) in base64url, 43 characters.
create or replace function memory._signature(p_signed text, p_inner_block bytea, p_outer_block bytea)
returns text
language sql stable parallel safe -- convert_to() is stable
begin atomic
  select left(replace(replace(
    encode(memory._hmac_sha256(convert_to(p_signed, 'UTF8'), p_inner_block, p_outer_block), 'base64'),
    '+', '-'), '/', '_'), 43);
end;

-- Whether two texts are equal. The function first compares 64-bit hashes, so that the time of the comparison reveals
-- nothing about a secret text. A wrong text has the right hash once in 2^64.
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
