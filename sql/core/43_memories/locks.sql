-- These functions lock the counters of agents' memories (memory.memory_scopes). A function that writes memories locks
-- the counters of their agents before the memories, and locks several counters in the order of agent_id, so that no two
-- functions deadlock. Only an UPDATE or DELETE by hand locks memories first.

-- Locks the counter of one agent, and creates a missing counter.
create or replace function memory._lock_scope(p_user_id text, p_agent_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  loop
    perform from memory.memory_scopes as s
    where s.user_id = p_user_id and s.agent_id = p_agent_id
    for no key update;
    exit when found;
    insert into memory.memory_scopes (user_id, agent_id) values (p_user_id, p_agent_id)
    on conflict do nothing;
  end loop;
end;
$$;

-- Locks the counters of all agents to whom these memories or the memories hidden by them belong.
create or replace function memory._lock_scopes_of(p_user_id text, p_memory_ids uuid[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform
  from unnest(array(
    -- The query looks up each memory and each counter separately. A session whose first plan met an empty table would
    -- otherwise join, and read all memories of the user.
    select f.agent_id
    from unnest(p_memory_ids) as i (id)
    cross join lateral (
      select m.agent_id from memory.memories as m where m.user_id = p_user_id and m.memory_id = i.id
      union all
      select m.agent_id from memory.memories as m where m.user_id = p_user_id and m.superseded_by = i.id) as f
    group by f.agent_id order by f.agent_id)) as a (agent_id)
  cross join lateral (
    select from memory.memory_scopes as s
    where s.user_id = p_user_id and s.agent_id = a.agent_id
    for no key update) as s;
end;
$$;

-- Locks the memory counters of all agents that may have memories of these threads. The caller has locked the threads,
-- so no job of them is handed out from then on. While the counters are locked, no worker can store memories that it
-- extracted from the threads; a worker that holds a counter never waits for a thread. Only a worker with a job of these
-- threads can be about to make a missing counter. The function makes this counter in its turn, so that all sessions
-- make and lock counters in one order.
create or replace function memory._lock_scopes_of_threads(p_user_id text, p_thread_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  agents text[] := array[]::text[];
begin
  -- The agents of 1,000,000 messages take 3 s to read, so they are read only if a worker has a job of these threads.
  if exists (
    select from memory.jobs as j
    where j.user_id = p_user_id and j.status = 'running' and j.scope = any (p_thread_ids)) then
    agents := array(
      select 'default'
      union
      select m.agent_id from memory.messages as m where m.user_id = p_user_id and m.thread_id = any (p_thread_ids));
  end if;
  -- Reads the counters again: a worker may have committed memories with new counters since the agents were read.
  perform memory._lock_scope(p_user_id, a.agent_id)
  from (
    select u as agent_id from unnest(agents) as u
    union select s.agent_id from memory.memory_scopes as s where s.user_id = p_user_id
    order by 1) as a;
end;
$$;

-- Locks those counters of these agents that no other session holds, and returns the agents of the locked counters.
create or replace function memory._lock_free_scopes(p_user_id text, p_agent_ids text[])
returns text[]
language plpgsql volatile parallel unsafe
as $$
begin
  return array(
    select s.agent_id
    from memory.memory_scopes as s
    where s.user_id = p_user_id and s.agent_id = any (p_agent_ids)
    order by s.agent_id
    for no key update skip locked);
end;
$$;

-- Locks the counters for the memories that a job handed out, and returns the ids of these memories in the order of
-- their numbers in the job. The id of a memory is null if the memory was changed, hidden or released since the job was
-- handed out.
create or replace function memory._lock_unchanged(p_user_id text, p_handed_out jsonb)
returns uuid[]
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._lock_scopes_of(p_user_id, array(
    select (h ->> 'memory_id')::uuid from jsonb_array_elements(p_handed_out) as h));
  -- The query looks up each memory separately: a join of 1,200 memories with all memories of the user took 0.4 s.
  return array(
    select (
      select m.memory_id from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = (h.value ->> 'memory_id')::uuid
        and m.version = (h.value ->> 'version')::int and memory._is_there(m))
    from jsonb_array_elements(p_handed_out) with ordinality as h (value, position)
    order by h.position);
end;
$$;

-- Locks memories in the order of their ids, and returns their places (ctid) for an UPDATE. Each is looked up by its
-- key, because for "memory_id = any (p_memory_ids)" a session whose first plan met an empty table reads all memories of
-- the user.
create or replace function memory._locked_places(p_user_id text, p_memory_ids uuid[])
returns tid[]
language plpgsql volatile parallel unsafe
as $$
begin
  return array(
    select f.place
    from (select i.id from unnest(p_memory_ids) as i (id) order by i.id) as g
    cross join lateral (
      select m.ctid as place from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = g.id offset 0 for no key update) as f);
end;
$$;

-- A memory that a caller names, locked together with the counter of its agent. The function
-- raises P0002 if the user has no such memory.
create or replace function memory._locked_memory(p_user_id text, p_memory_id uuid)
returns memory.memories
language plpgsql volatile parallel unsafe
as $$
declare
  present memory.memories;
begin
  perform memory._lock_scopes_of(p_user_id, array[p_memory_id]);
  select m.* into present
  from memory.memories as m
  where m.user_id = p_user_id
    and m.memory_id = p_memory_id
    and memory._is_there(m)
  for no key update;
  if not found then
    perform memory._refuse_unknown_memory(p_memory_id);
  end if;
  return present;
end;
$$;
