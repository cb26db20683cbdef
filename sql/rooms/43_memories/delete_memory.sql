create or replace function memory.delete_memory(user_id text, memory_id uuid)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  if memory_id is null then
    perform memory._refuse_unknown_memory(memory_id);
  end if;
  perform memory._lock_scopes_of(user_id, array[memory_id]);
  update memory.memories as m
  set deleted_at = statement_timestamp(), quarantined_at = null, quarantine_reason = null, quarantined_with = null,
      operation = 'delete'
  where m.user_id = delete_memory.user_id
    and m.memory_id = delete_memory.memory_id
    and memory._is_there(m);
  if not found then
    return false;
  end if;
  perform memory._note_deletion(user_id, '');
  return true;
end;
$$;
comment on function memory.delete_memory(text, uuid) is
'Deletes a memory and returns whether it existed. memory.restore_memory() undoes that until memory.sweep() removes '
'the memory, or policy erasure.delete_after has passed. Memories that it had superseded are current again.';
