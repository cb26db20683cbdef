-- Locks a thread's row until the transaction ends, and returns whether the thread has one. Every writer of a thread
-- locks this row first, so two writers wait for each other instead of deadlocking. If there is no row, nothing needs a
-- lock: later messages belong to another transaction, which holds the lock on their thread.
create or replace function memory._lock_existing_thread(p_user_id text, p_thread_id text)
returns boolean
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id for update;
  return found;
end;
$$;
