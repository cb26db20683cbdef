create or replace function memory.was_forgotten(user_id text, messages jsonb)
returns boolean[]
language plpgsql stable parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  forgotten_at timestamptz;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_chat_messages(messages);
  forgotten_at := memory._user_forgotten_at(user_id);
  -- A text without created_at may be older than the erasure of the user, so it counts as forgotten.
  return array(
    select coalesce(coalesce(memory._time_or_null(m.value ->> 'created_at'), '-infinity') <= forgotten_at, false)
      or coalesce(memory._is_forgotten(was_forgotten.user_id, m.value ->> 'content'), false)
    from jsonb_array_elements(messages) with ordinality as m (value, place)
    order by m.place);
end;
$$;
comment on function memory.was_forgotten(text, jsonb) is
'Tells for each of these messages or memories (objects with content and created_at) whether it was forgotten, or the '
'user was forgotten after created_at; a text without created_at counts as older. For programs that import: such '
'texts stay out.';
