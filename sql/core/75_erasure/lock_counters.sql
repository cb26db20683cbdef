-- The locks that keep other sessions from writing while rows of a user are removed.

-- Locks the threads of a user, then the counters of memories, in the order of docs/architecture.md. With p_may_wait the
-- function waits for the sessions that hold them. Returns the locked threads and agents. are_all is false if another
-- session has made a thread or counter meanwhile and holds it; a caller with other locks must not wait for it.
create or replace function memory._lock_counters(
  p_user_id text, p_may_wait boolean, out threads text[], out agents text[], out are_all boolean
)
language plpgsql volatile parallel unsafe
as $$
declare
  seen bigint;
begin
  if p_may_wait then
    perform from memory.threads as t where t.user_id = p_user_id order by t.thread_id for update;
    perform from memory.memory_scopes as s where s.user_id = p_user_id order by s.agent_id for update;
  end if;
  select
    array(select t.thread_id from memory.threads as t where t.user_id = p_user_id for update skip locked),
    array(select s.agent_id from memory.memory_scopes as s where s.user_id = p_user_id for update skip locked),
    (select count(*) from memory.threads as t where t.user_id = p_user_id)
      + (select count(*) from memory.memory_scopes as s where s.user_id = p_user_id)
  into threads, agents, seen;
  are_all := cardinality(threads || agents) = seen;
end;
$$;

create or replace function memory._refuse_busy_user()
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('user_id', 'is being written to all the time', 'Stop who writes, or call this again.',
    '40001');
end;
$$;
