create or replace function memory.delete_thread(user_id text, thread_id text, memories text default 'keep')
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  if (memories in ('keep', 'forget')) is not true then
    perform memory._refuse('memories', format('unknown value "%s"', left(memories, 50)), 'Use keep or forget.');
  end if;
  if not memory._lock_existing_thread(user_id, thread_id) then
    -- Artifacts and checkpoints may name a thread of which no message was ever stored.
    delete from memory.artifacts as a
    where a.user_id = delete_thread.user_id and a.thread_id = delete_thread.thread_id;
    perform memory._delete_checkpoints_of_thread(user_id, thread_id);
    if memories = 'forget' then -- memories may name it as well
      perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
      perform memory._delete_derived(user_id, thread_id, true);
    end if;
    return 0;
  end if;
  perform memory._lock_scopes_of_threads(user_id, array[thread_id]);
  perform memory._delete_derived(user_id, thread_id, memories = 'forget');
  deleted := (select count(*) from memory.messages as m
              where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id);
  -- The trigger on threads deletes the messages and everything else that belongs to the thread.
  delete from memory.threads as t where t.user_id = delete_thread.user_id and t.thread_id = delete_thread.thread_id;
  return deleted;
end;
$$;
comment on function memory.delete_thread(text, text, text) is
'Deletes a thread for good: its messages, summaries, artifacts, checkpoints, jobs, and the memories extracted from it. '
'Returns the number of messages deleted. Memories that somebody stated in the thread stay, unless memories is forget: '
'then they go as well, and no model or import brings any memory of the thread back.';

-- Locks the memory counters of all agents that may have memories of these threads, after the threads themselves, which
-- the caller has locked: no job of them is handed out from then on. While the counters are locked, no worker can store
-- memories that it extracted from the threads; a worker that holds one of them never waits for a thread. A missing
-- counter, which only a worker that has a job of these threads can be about to make, is made when its turn has come, so
-- that all sessions make and lock counters in one order.
create or replace function memory._lock_scopes_of_threads(p_user_id text, p_thread_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  agents text[] := array['default'];
  present text[];
begin
  -- The agents of 1,000,000 messages take 3 s to read, so they are read only if a worker has a job of theirs.
  if exists (
    select from memory.jobs as j
    where j.user_id = p_user_id and j.status = 'running' and j.scope = any (p_thread_ids)) then
    agents := array(
      select 'default'
      union
      select m.agent_id from memory.messages as m where m.user_id = p_user_id and m.thread_id = any (p_thread_ids));
  end if;
  -- A second look: memories that a worker has committed since the first one have their counter.
  present := array(select s.agent_id from memory.memory_scopes as s where s.user_id = p_user_id);
  if agents <@ present then -- a fifth of the time with 1,000 agents
    perform from memory.memory_scopes as s where s.user_id = p_user_id order by s.agent_id for no key update;
  else
    perform memory._lock_scope(p_user_id, a.agent_id)
    from (select distinct u as agent_id from unnest(agents || present) as u order by 1) as a;
  end if;
end;
$$;

-- Deletes the memories extracted from a thread, the memories that they were merged into, and the articles made of any
-- of them. Triggers restore the memories that one of the deleted memories had superseded. Articles go last: deleted
-- first, they would restore memories that are deleted anyway. With p_forgets the memories that somebody stated in the
-- thread go as well, and tombstones keep these and the extracted memories from coming back.
create or replace function memory._delete_derived(p_user_id text, p_thread_id text, p_forgets boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  derived uuid[];
begin
  derived := array(
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and (p_forgets or not m.is_stated));
  if derived = '{}' then
    return;
  end if;
  derived := array(
    with recursive tainted as (
      select i as memory_id from unnest(derived) as i
      union
      select m.memory_id
      from memory.memories as m join tainted as t on m.metadata -> 'merged_from' ? t.memory_id::text
      where m.user_id = p_user_id and m.source = 'reconciliation'
    )
    select t.memory_id from tainted as t);
  if p_forgets then
    perform memory._bury(p_user_id, array(
      select m.content from memory._memories_by_ids(p_user_id, derived) as m));
  end if;
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (derived);
  delete from memory.documents as d
  where d.user_id = p_user_id and d.source = 'consolidation' and d.metadata -> 'memory_ids' ?| derived::text[];
end;
$$;
