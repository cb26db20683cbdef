create or replace function memory.delete_thread(user_id text, thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  deleted bigint;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  -- The thread first, like every append. Then the memory counters of all agents it may have memories of: holding them keeps
  -- a worker from storing what it extracted behind our back; it never waits for a thread while it holds one.
  perform from memory.threads as t
  where t.user_id = delete_thread.user_id and t.thread_id = delete_thread.thread_id for update;
  if not found then -- one that appears from now on is someone else's, and so is its lock
    -- Artifacts may name a thread of which no message was ever stored.
    delete from memory.artifacts as a where a.user_id = delete_thread.user_id and a.thread_id = delete_thread.thread_id;
    return 0;
  end if;
  insert into memory.memory_scopes (user_id, agent_id)
  select delete_thread.user_id, a.agent_id
  from (select 'default' as agent_id
        union
        select m.agent_id from memory.messages as m
        where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id) as a
  order by a.agent_id
  on conflict do nothing;
  perform from memory.memory_scopes as s where s.user_id = delete_thread.user_id order by s.agent_id for no key update;
  perform memory._delete_derived(user_id, thread_id);
  select count(*) into deleted from memory.messages as m
  where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id;
  delete from memory.threads as t where t.user_id = delete_thread.user_id and t.thread_id = delete_thread.thread_id;
  return deleted;
end;
$$;
comment on function memory.delete_thread(text, text) is
'Deletes a thread for good: its messages, summaries, artifacts, jobs, and the memories extracted from it. Returns the number of messages deleted.';

-- The memories extracted from a thread, what they were merged into, and the articles made of them. What gave way to one
-- of these holds again: the triggers see to that, so articles go last, or they would first bring back what goes anyway.
create or replace function memory._delete_derived(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  derived uuid[];
begin
  with recursive tainted as (
    select m.memory_id from memory.memories as m
    where m.user_id = p_user_id and m.thread_id = p_thread_id and not m.is_stated
    union
    select m.memory_id from memory.memories as m join tainted as t on m.metadata -> 'merged_from' ? t.memory_id::text
    where m.user_id = p_user_id and m.source = 'reconciliation'
  )
  select array_agg(t.memory_id) into derived from tainted as t;
  if derived is null then
    return;
  end if;
  delete from memory.memories as m where m.user_id = p_user_id and m.memory_id = any (derived);
  delete from memory.documents as d
  where d.user_id = p_user_id and d.source = 'consolidation'
    and d.metadata -> 'memory_ids' ?| derived::text[];
end;
$$;
