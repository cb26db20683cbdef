create or replace function memory.restore_memory(user_id text, memory_id uuid, version int default null)
returns int
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  earlier memory.memory_history;
  current memory.memories;
  restored int;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._lock_scopes_of(user_id, array[memory_id]);
  select m.* into current
  from memory.memories as m
  where m.user_id = restore_memory.user_id
    and m.memory_id = restore_memory.memory_id
    and memory._is_unexpired(m.expires_at)
  for no key update;
  if not found then
    perform memory._refuse_unknown_memory(memory_id);
  elsif current.quarantined_at is not null then
    perform memory._refuse('memory_id', format('memory %s is in quarantine: %s', memory_id, current.quarantine_reason),
      'If it is harmless, call memory.release_memory().', '23505');
  end if;
  if version is not null then
    select h.* into earlier
    from memory.memory_history as h
    where h.user_id = restore_memory.user_id
      and h.memory_id = restore_memory.memory_id
      and h.version = restore_memory.version;
    if not found and version <> current.version then
      perform memory._refuse('version', format('the memory has no version %s', version),
        'memory.get_memory_history() lists its versions.', 'P0002');
    end if;
  end if;
  if num_nonnulls(current.deleted_at, current.superseded_at) > 0 then
    -- The function evicts another memory before this one is current again, so that this memory itself is not evicted.
    perform memory._keep_limit(user_id, current.agent_id, 1);
  end if;
  update memory.memories as m
  set superseded_by = null,
      supersede_reason = null,
      superseded_at = null,
      deleted_at = null,
      valid_to = memory._valid_to_before(current),
      operation = 'restore',
      version = m.version + 1,
      content = coalesce(earlier.content, m.content),
      metadata = coalesce(earlier.metadata, m.metadata),
      tags = coalesce(earlier.tags, m.tags),
      confidence = coalesce(earlier.confidence, m.confidence),
      importance = coalesce(earlier.importance, m.importance),
      expires_at = case when earlier.memory_id is null then m.expires_at else earlier.expires_at end
  where m.user_id = restore_memory.user_id and m.memory_id = restore_memory.memory_id
  returning m.version into restored;
  if current.deleted_at is not null then
    perform memory._hide_released(user_id, memory_id, current.deleted_at);
  end if;
  return restored;
exception
  when unique_violation then
    raise exception 'memory_id: the same content is stored by now as another memory of this agent'
      using errcode = '23505', hint = 'Delete or supersede that one first.';
end;
$$;
comment on function memory.restore_memory(text, uuid, int) is
'Undoes a deletion (by delete_memory or by the limit), a supersede or an end, or takes a memory back to an earlier '
'version. Returns the new version. Memories that the deletion released are hidden again. At the limit another memory '
'is evicted.';
