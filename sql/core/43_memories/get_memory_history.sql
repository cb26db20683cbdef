create or replace function memory.get_memory_history(user_id text, memory_id uuid)
returns setof memory.memory_version
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_reader(user_id);
  return query
  select h.version, h.operation, h.content, h.metadata, h.changed_at, h.changed_by
  from memory.memory_history as h
  join memory.memories as m using (user_id, memory_id)
  where h.user_id = get_memory_history.user_id
    and h.memory_id = get_memory_history.memory_id
    and memory._is_unexpired(m.expires_at)
  union all
  select m.version, m.operation, m.content, m.metadata, m.updated_at, m.changed_by
  from memory.memories as m
  where m.user_id = get_memory_history.user_id
    and m.memory_id = get_memory_history.memory_id
    and memory._is_unexpired(m.expires_at)
  order by 1;
  if not found then
    perform memory._refuse_unknown_memory(memory_id);
  end if;
end;
$$;
comment on function memory.get_memory_history(text, uuid) is
'Every version of a memory, oldest first: the operation (insert, update, supersede, delete, evict, restore, '
'quarantine, release), its time, and the role that had logged in.';
