-- These functions keep the limit of an agent's memories (policy memories.max_per_agent).

-- Adds p_change to an agent's memory count, and evicts memories when the count then exceeds the limit. New facts first
-- end the values that they replace, which makes room.
create or replace function memory._count_memories(
  p_user_id text, p_agent_id text, p_change bigint, p_facts uuid[] default null
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  counted bigint;
  layers memory.policies[];
  settings jsonb;
begin
  if p_change <= 0 then
    update memory.memory_scopes as s
    set memory_count = memory._counted_on(s.memory_count, p_change)
    where s.user_id = p_user_id and s.agent_id = p_agent_id;
    return;
  end if;
  update memory.memory_scopes as s
  set memory_count = memory._counted_on(s.memory_count, p_change)
  where s.user_id = p_user_id and s.agent_id = p_agent_id
  returning s.memory_count, array( -- as in memory._policy()
    select p from (select p_user_id, p_agent_id offset 0) as a (user_id, agent_id)
    join memory.policies as p on memory._policy_applies(p.user_id, p.agent_id, a.user_id, a.agent_id))
  into counted, layers;
  if p_facts is not null then
    perform memory._settle(m) from memory._memories_by_ids(p_user_id, p_facts) as m;
    counted := (
      select s.memory_count from memory.memory_scopes as s where s.user_id = p_user_id and s.agent_id = p_agent_id);
  end if;
  settings := memory._effective_policy(layers) -> 'memories';
  if counted > (settings ->> 'max_per_agent')::bigint then
    perform memory._keep_limit(p_user_id, p_agent_id, counted, settings);
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
  victims uuid[];
begin
  if surplus <= 0 then
    return 0;
  end if;
  victims := memory._evictable(p_user_id, p_agent_id, surplus, p_settings ->> 'eviction');
  if cardinality(victims) > 1 then -- many memories came at once, or an administrator lowered the limit
    perform memory._evict_together(p_user_id, victims);
  else -- its plan is kept
    -- The trigger of the update takes the victim off the count. If the victim had expired, the memories that it hid are
    -- released, as when a sweep removes the victim.
    update memory.memories as m
    set deleted_at = statement_timestamp(),
        operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
    where m.user_id = p_user_id
      and m.memory_id = victims[1]; -- with _is_current(m) a plan made without statistics reads all memories of the user
  end if;
  return surplus;
end;
$$;

-- Evicts several memories in one statement: each statement writes a new version of the counter, and whoever reads the
-- counter passes by all versions of this transaction. The caller holds the counter, so that nobody else evicts them.
create or replace function memory._evict_together(p_user_id text, p_memory_ids uuid[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  places tid[];
begin
  -- A statement of its own, because a row that somebody else was changing has another place afterwards.
  places := array(
    select f.place
    from unnest(p_memory_ids) as i (id)
    cross join lateral (
      select o.ctid as place from memory.memories as o
      where o.user_id = p_user_id and o.memory_id = i.id offset 0 for no key update) as f);
  update memory.memories as m
  set deleted_at = statement_timestamp(),
      operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
  where m.ctid = any (places);
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
       and memory._is_unexpired(m.expires_at)
     order by m.created_at, m.memory_id
     limit p_surplus)
    union all
    (select m.memory_id
     from memory.memories as m
     where p_eviction <> 'fifo'
       and m.user_id = p_user_id
       and m.agent_id = p_agent_id
       and memory._is_current(m)
       and memory._is_unexpired(m.expires_at)
     order by m.is_stated, m.importance, m.created_at, m.memory_id
     limit p_surplus)
    limit p_surplus);
end;
$$;
