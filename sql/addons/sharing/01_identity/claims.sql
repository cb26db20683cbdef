-- The claims of a JSON Web Token that a program before the database, such as PostgREST, has verified and put into a
-- setting. Every session can set this setting. So claims count only in roles that an administrator has named by
-- memory.trust_claims(), and anybody who can send SQL in such a role is believed.

-- The user of the claims, if claims count in the current role; null in other roles. Claims do not count if the login
-- role is itself such a role, because anybody with its password could claim to be any user.
create or replace function memory._user_of_claims()
returns text
language plpgsql stable parallel unsafe
as $$
declare
  setting text;
  claims jsonb;
begin
  select b.claims_setting into setting
  from memory.bound_roles as b
  where b.role_name = current_setting('role')::name and b.role_name <> session_user;
  if setting is null then
    return null;
  end if;
  begin
    claims := nullif(current_setting(setting, true), '')::jsonb;
  exception
    when data_exception or program_limit_exceeded then
      perform memory._refuse_token('holds no JSON', setting);
  end;
  if claims is null then
    perform memory._refuse_token('is not set', setting);
  end if;
  perform memory._check_claims(claims, setting);
  return claims ->> 'sub';
end;
$$;
