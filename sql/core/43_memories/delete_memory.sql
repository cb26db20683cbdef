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
  return memory._delete_memories(user_id, array[memory_id]) > 0;
end;
$$;
comment on function memory.delete_memory(text, uuid) is
'Deletes a memory and returns whether it existed. memory.restore_memory() undoes that until memory.sweep() removes '
'the memory, or policy erasure.delete_after has passed. Memories that it had superseded are current again.';

-- Soft-deletes memories and returns how many there were. The caller has locked their counters.
create or replace function memory._delete_memories(p_user_id text, p_memory_ids uuid[])
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  places constant tid[] := memory._locked_places(p_user_id, p_memory_ids);
  deleted bigint;
begin
  update memory.memories as m
  set deleted_at = statement_timestamp(), quarantined_at = null, quarantine_reason = null, quarantined_with = null,
      operation = 'delete'
  where m.ctid = any (places) and memory._is_there(m);
  get diagnostics deleted = row_count;
  if deleted > 0 then
    perform memory._note_deletion(p_user_id, '{""}');
  end if;
  return deleted;
end;
$$;
