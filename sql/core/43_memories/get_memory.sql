create or replace function memory.get_memory(user_id text, memory_id uuid)
returns memory.memory
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  result memory.memory;
begin
  perform memory._check_reader(user_id);
  select r.*
  into result
  from memory.memories as m
  cross join lateral memory._memory_result(m, 1) as r
  where m.user_id = get_memory.user_id
    and m.memory_id = get_memory.memory_id
    and memory._is_there(m);
  if not found then
    perform memory._refuse_unknown_memory(memory_id);
  end if;
  return result;
end;
$$;
comment on function memory.get_memory(text, uuid) is
'One memory of a user by its id, also a superseded one (superseded_by names its successor) and one in '
'quarantine (quarantined_at, quarantine_reason). source and source_seqs '
'say where it comes from. Error P0002 when the user has no memory with that id.';

-- Refuses a memory_id that is null or names no memory of the user.
create or replace function memory._refuse_unknown_memory(p_memory_id uuid, p_argument text default 'memory_id')
returns void
language plpgsql stable parallel safe
as $$
begin
  perform memory._refuse(p_argument, coalesce('this user has no memory ' || p_memory_id, 'must not be null'),
    'It may have expired, been deleted or superseded already, or belong to someone else; '
    'memory.list_memories(user_id) shows what there is.',
    case when p_memory_id is null then '22023' else 'P0002' end);
end;
$$;
