create or replace function memory.revoke_space(space text, user_id text)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  id text;
  was_granted boolean;
begin
  -- This node need not serve the user, who may have been moved to another node since the grant.
  if not (memory._is_id(user_id) and memory._may_reach(user_id)) then
    perform memory._check_id('user_id', user_id);
  end if;
  id := memory._existing_space(space);
  delete from memory.space_grants as g where g.user_id = id and g.member = revoke_space.user_id;
  was_granted := found;
  perform memory._audit('revoke_space', jsonb_build_object('space', space), user_id);
  return was_granted;
end;
$$;
comment on function memory.revoke_space(text, text) is
'Takes back what memory.grant_space() has granted, and returns whether the user had anything. The next call of the '
'user finds nothing there any more; what the user wrote stays. Error P0002 when there is no such space. For '
'administrators.';
