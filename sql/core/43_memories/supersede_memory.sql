create or replace function memory.supersede_memory(user_id text, old_memory_id uuid, new_memory_id uuid, reason text)
returns void
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  present uuid[];
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('reason', reason);
  reason := memory._masked_note(user_id, null, reason);
  if old_memory_id = new_memory_id then
    perform memory._refuse('new_memory_id', 'a memory cannot supersede itself',
      'Name the memory that takes its place.');
  end if;
  perform memory._lock_scopes_of(user_id, array[old_memory_id, new_memory_id]);
  perform memory._locked_places(user_id, array[old_memory_id, new_memory_id]);
  present := array(
    select m.memory_id from memory._memories_by_ids(user_id, array[old_memory_id, new_memory_id]) as m
    where memory._is_visible(m));
  if (old_memory_id = any (present)) is not true then
    perform memory._refuse_unknown_memory(old_memory_id, 'old_memory_id');
  elsif (new_memory_id = any (present)) is not true then
    perform memory._refuse_unknown_memory(new_memory_id, 'new_memory_id');
  end if;
  -- The last argument says until when the old memory held. It is null for a duplicate, which holds on, and for a
  -- corrected memory, which was never true.
  perform memory._end_memories(user_id, array[old_memory_id], new_memory_id, reason,
    case when reason not in ('duplicate', 'near-duplicate', 'corrected') then coalesce((
      select m.valid_from from memory._memories_by_ids(user_id, array[new_memory_id]) as m),
      statement_timestamp()) end);
end;
$$;
comment on function memory.supersede_memory(text, uuid, uuid, text) is
'Hides a memory behind another memory of the same user that replaces it. memory.restore_memory() undoes that. When the '
'new memory is deleted or expires, the old one is current again.';
