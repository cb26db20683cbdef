create or replace function memory.grant_space(space text, user_id text, access text default 'read')
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  id text;
begin
  if memory._is_space(user_id) then
    perform memory._refuse('user_id', 'is a space', 'Grant the space to each of the users.');
  end if;
  perform memory._check_id('user_id', user_id);
  if (access in ('read', 'write')) is not true then
    perform memory._refuse('access',
      coalesce('unknown access "' || left(access, 50) || '"', 'must not be null'), 'Use read or write.');
  end if;
  id := memory._existing_space(space);
  insert into memory.space_grants as g (user_id, member, access)
  values (id, grant_space.user_id, grant_space.access)
  on conflict on constraint space_grants_pkey do update set access = excluded.access
  where g.access <> excluded.access;
  perform memory._audit('grant_space', jsonb_build_object('space', space, 'access', access), user_id);
end;
$$;
comment on function memory.grant_space(text, text, text) is
'Lets a user read a space, or write it too (access read or write). Granted again, the last call counts. Sessions of '
'tenants reach what is granted to their user; other sessions read and write every space, but a search or a context of '
'a user shows only what is granted to that user. Error P0002 when there is no such space. For administrators.';
