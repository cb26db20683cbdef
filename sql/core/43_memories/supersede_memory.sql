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
  -- The query locks both rows in the order of their ids, so that two callers with swapped arguments do not deadlock.
  select array_agg(l.memory_id) into present
  from (select i.id from unnest(array[old_memory_id, new_memory_id]) as i (id) order by i.id) as g
  cross join lateral (
    -- With offset 0 each is looked up by its key, whatever conditions stand outside: a plan made while the table was
    -- empty would read all current memories of the user.
    select m.memory_id, m as row from memory.memories as m
    where m.user_id = supersede_memory.user_id and m.memory_id = g.id offset 0
    for no key update) as l
  where memory._is_current(l.row)
    and memory._is_unexpired((l.row).expires_at);
  if (old_memory_id = any (present)) is not true then
    perform memory._refuse_unknown_memory(old_memory_id, 'old_memory_id');
  elsif (new_memory_id = any (present)) is not true then
    perform memory._refuse_unknown_memory(new_memory_id, 'new_memory_id');
  end if;
  -- Until when the old memory held; a duplicate holds on, and what was corrected was never true.
  perform memory._end_memories(user_id, array[old_memory_id], new_memory_id, reason,
    case when reason not in ('duplicate', 'near-duplicate', 'corrected') then coalesce((
      select m.valid_from from memory.memories as m
      where m.user_id = supersede_memory.user_id and m.memory_id = new_memory_id), statement_timestamp()) end);
end;
$$;
comment on function memory.supersede_memory(text, uuid, uuid, text) is
'Hides a memory behind another memory of the same user that replaces it. memory.restore_memory() undoes that. When the '
'new memory is deleted or expires, the old one is current again.';
