-- These functions keep the limit of an agent's memories (policy memories.max_per_agent).

-- Adds p_change to an agent's memory count.
create or replace function memory._count_memories(p_user_id text, p_agent_id text, p_change bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.memory_scopes as s
  set memory_count = memory._counted_on(s.memory_count, p_change)
  where s.user_id = p_user_id and s.agent_id = p_agent_id;
end;
$$;

-- Evicts the memories by which an agent exceeds the limit once p_coming other memories have come. One statement evicts
-- all, because each statement writes a version of the counter, and readers of the counter pass by all versions of this
-- transaction. The trigger of the update subtracts the victims from the count. If a victim had expired, the memories
-- that it hid are released, as when a sweep removes it.
create or replace function memory._keep_limit(p_user_id text, p_agent_id text, p_coming bigint default 0)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  settings constant jsonb := memory._policy_section(p_user_id, p_agent_id, 'memories');
  surplus constant bigint := p_coming - (settings ->> 'max_per_agent')::bigint + (
    select s.memory_count from memory.memory_scopes as s where s.user_id = p_user_id and s.agent_id = p_agent_id);
  places tid[];
begin
  if surplus > 0 then
    places := memory._locked_places(
      p_user_id, memory._evictable(p_user_id, p_agent_id, surplus, settings ->> 'eviction'));
    update memory.memories as m
    set deleted_at = statement_timestamp(),
        operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
    where m.ctid = any (places);
  end if;
end;
$$;

-- The memories to evict first. With p_eviction "fifo" those are the memories that were stored first. Otherwise expired
-- memories come first, then the least important ones: extracted before stated, less important before more important,
-- stored earlier before later. Saying or recalling a memory again makes it no younger here; only contexts count its age
-- from when it was last said. Each part of the query reads the beginning of an index, and only as far as the limit
-- needs.
create or replace function memory._evictable(p_user_id text, p_agent_id text, p_surplus bigint, p_eviction text)
returns uuid[]
language plpgsql stable parallel safe
-- With a plan made while the table was empty, PostgreSQL would sort all memories of the agent. The setting stands at
-- this function, so that no trigger runs under it.
set enable_sort = off
as $$
begin
  return array(
    (select m.memory_id
     from memory.memories as m
     where m.user_id = p_user_id
       and m.agent_id = p_agent_id
       and memory._is_current(m)
       and m.expires_at <= statement_timestamp()
     order by m.expires_at
     limit p_surplus)
    union all
    (select m.memory_id
     from memory.memories as m
     where p_eviction = 'fifo'
       and m.user_id = p_user_id
       and m.agent_id = p_agent_id
       and memory._is_visible(m)
     order by m.created_at, m.memory_id
     limit p_surplus)
    union all
    (select m.memory_id
     from memory.memories as m
     where p_eviction <> 'fifo'
       and m.user_id = p_user_id
       and m.agent_id = p_agent_id
       and memory._is_visible(m)
     order by m.is_stated, m.importance, m.created_at, m.memory_id
     limit p_surplus)
    limit p_surplus);
end;
$$;
