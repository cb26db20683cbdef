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
  delete from memory.memories as m
  where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id and m.source = 'extraction';
  select count(*) into deleted from memory.messages as m
  where m.user_id = delete_thread.user_id and m.thread_id = delete_thread.thread_id;
  delete from memory.threads as t where t.user_id = delete_thread.user_id and t.thread_id = delete_thread.thread_id;
  return deleted;
end;
$$;
comment on function memory.delete_thread(text, text) is
'Deletes a thread for good: its messages, summaries, jobs, and the memories extracted from it. Returns the number of messages deleted.';
