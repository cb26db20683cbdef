create or replace function memory.delete_space(space text)
returns jsonb
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  id constant text := memory._space_id(space);
begin
  perform from memory.spaces as s where s.user_id = id for update; -- another session may be deleting it
  if not found then
    perform memory._refuse_space('space', space);
  end if;
  return memory.forget_user(id, 'delete_space');
end;
$$;
comment on function memory.delete_space(text) is
'Removes a space with everything in it, as memory.forget_user() removes a user, and returns the receipt. It waits for '
'transactions that write there. The name is free afterwards. Error P0002 when there is no such space. For '
'administrators.';
