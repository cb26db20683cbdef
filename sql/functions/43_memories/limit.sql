-- Books a change of an agent's memory count and keeps the limit.
create or replace function memory._count_memories(p_user_id text, p_agent_id text, p_change bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  counted bigint;
  layers memory.policies[];
begin
  update memory.memory_scopes as s set memory_count = s.memory_count + p_change
  where s.user_id = p_user_id and s.agent_id = p_agent_id
  returning s.memory_count,
    array(select p from memory.policies as p where p.user_id in ('', p_user_id) and p.agent_id in ('', p_agent_id))
  into counted, layers;
  if p_change > 0 then
    perform memory._keep_limit(p_user_id, p_agent_id, counted, memory._effective_policy(layers) -> 'memories');
  end if;
end;
$$;

-- Removes what is more than the limit of so many memories.
create or replace function memory._keep_limit(p_user_id text, p_agent_id text, p_counted bigint, p_settings jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  surplus constant bigint := p_counted - (p_settings ->> 'max_per_agent')::bigint;
begin
  if surplus > 0 then
    perform memory._evict(p_user_id, p_agent_id, surplus, p_settings ->> 'eviction');
  end if;
end;
$$;

-- Soft-deletes what goes at the limit. The update comes back to memory._count_memories() through the trigger and lowers
-- the counter. What a memory hid that has expired comes back, as when a sweep removes it.
create or replace function memory._evict(p_user_id text, p_agent_id text, p_surplus bigint, p_eviction text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  gone uuid;
begin
  -- One at a time: an update of an array of them is planned anew each time, which takes a fifth of its time, and more than
  -- one goes only where the limit was lowered or many came at once.
  foreach gone in array memory._evictable(p_user_id, p_agent_id, p_surplus, p_eviction) loop
    update memory.memories as m
    set deleted_at = statement_timestamp(),
        operation = case when m.expires_at <= statement_timestamp() then 'delete' else 'evict' end
    where m.user_id = p_user_id and m.memory_id = gone and m.superseded_at is null and m.deleted_at is null;
  end loop;
end;
$$;

-- What goes first: expired memories, then those that matter least (extracted before stated, then the less important,
-- then the older), or by eviction "fifo" the oldest. A function of its own, because its settings would hold for the
-- triggers too.
create or replace function memory._evictable(p_user_id text, p_agent_id text, p_surplus bigint, p_eviction text)
returns uuid[]
language plpgsql stable parallel safe
-- Each choice is the beginning of an index. Planned once for all limits: planning anew takes longer than the choice.
set plan_cache_mode = force_generic_plan
set enable_sort = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  first uuid[] := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.agent_id = p_agent_id and m.superseded_at is null
      and m.deleted_at is null
      and m.expires_at <= statement_timestamp()
    order by m.expires_at limit p_surplus);
begin
  return case
    when cardinality(first) = p_surplus then first
    when p_eviction = 'fifo' then first || array(
      select m.memory_id from memory.memories as m
      where m.user_id = p_user_id and m.agent_id = p_agent_id and m.superseded_at is null
        and m.deleted_at is null
        and (m.expires_at is null or m.expires_at > statement_timestamp())
      order by m.created_at, m.memory_id limit p_surplus - cardinality(first))
    else first || array(
      select m.memory_id from memory.memories as m
      where m.user_id = p_user_id and m.agent_id = p_agent_id and m.superseded_at is null
        and m.deleted_at is null
        and (m.expires_at is null or m.expires_at > statement_timestamp())
      order by m.is_stated, m.importance, m.created_at, m.memory_id limit p_surplus - cardinality(first)) end;
end;
$$;
