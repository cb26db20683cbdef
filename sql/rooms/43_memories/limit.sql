-- These functions keep the limit of an agent's memories (policy memories.max_per_agent).

-- Adds p_change to an agent's memory count, and evicts memories when the count then exceeds the limit.
create or replace function memory._count_memories(p_user_id text, p_agent_id text, p_change bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  counted bigint;
  layers memory.policies[];
  settings jsonb := memory._default_policy() -> 'memories';
begin
  update memory.memory_scopes as s
  set memory_count = memory._counted_on(s.memory_count, p_change)
  where s.user_id = p_user_id and s.agent_id = p_agent_id
  returning s.memory_count,
    case when p_change > 0 then array(
      select p from memory.policies as p
      where memory._policy_applies(p.user_id, p.agent_id, p_user_id, p_agent_id)) end
  into counted, layers;
  if cardinality(layers) > 0 then
    settings := memory._section_of(layers, 'memories');
  end if;
  if p_change > 0 and counted > (settings ->> 'max_per_agent')::bigint then
    counted := memory._keep_limit(p_user_id, p_agent_id, counted, settings);
  end if;
end;
$$;

-- Evicts those of an agent's p_counted memories that exceed the limit of p_settings (section memories of the policy),
-- and returns the number of evicted memories.
create or replace function memory._keep_limit(p_user_id text, p_agent_id text, p_counted bigint, p_settings jsonb)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  surplus constant bigint := p_counted - (p_settings ->> 'max_per_agent')::bigint;
  victim uuid;
begin
  if surplus <= 0 then
    return 0;
  end if;
  -- The loop evicts one memory at a time: PostgreSQL plans an update of an array of memories anew each time, which
  -- takes a fifth of the time of the update. Usually the loop evicts one memory; more only after an administrator
  -- lowered the limit or many memories came at once.
  foreach victim in array memory._evictable(p_user_id, p_agent_id, surplus, p_settings ->> 'eviction') loop
    -- The trigger of the update takes the victim off the count. If the victim had expired, the memories that it hid are
    -- released, as when a sweep removes the victim.
    update memory.memories as m
    set deleted_at = statement_timestamp(),
        operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
    where m.user_id = p_user_id
      and m.memory_id = victim; -- with _is_current(m) a plan made without statistics reads all memories of the user
  end loop;
  return surplus;
end;
$$;

-- The memories that are evicted first: expired memories, then the memories that matter least (extracted before stated,
-- then the less important, then those stored earlier), or with p_eviction "fifo" those stored first. A memory that is
-- said or recalled again is no younger here: only a context counts from when it was last said (age.sql). Each part
-- reads the beginning of an index, and only as far as the limit needs it.
create or replace function memory._evictable(p_user_id text, p_agent_id text, p_surplus bigint, p_eviction text)
returns uuid[]
language plpgsql stable parallel safe
-- The plan is generic, because planning anew takes longer than the query. Sorting is off, because a plan made while the
-- table was empty would sort all memories of the agent. The settings stand on this function so that no trigger runs
-- under them.
set plan_cache_mode = force_generic_plan
set enable_sort = off
set jit = off
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
       and memory._is_current(m)
       and (m.expires_at is null or m.expires_at > statement_timestamp())
     order by m.created_at, m.memory_id
     limit p_surplus)
    union all
    (select m.memory_id
     from memory.memories as m
     where p_eviction <> 'fifo'
       and m.user_id = p_user_id
       and m.agent_id = p_agent_id
       and memory._is_current(m)
       and (m.expires_at is null or m.expires_at > statement_timestamp())
     order by m.is_stated, m.importance, m.created_at, m.memory_id
     limit p_surplus)
    limit p_surplus);
end;
$$;
