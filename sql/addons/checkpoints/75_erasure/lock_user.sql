-- Locks the checkpoints of a user, in the order of their keys, before they are removed.
create or replace function memory._checkpoints_lock_user(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.checkpoints as c where c.user_id = p_user_id
  order by c.thread_id, c.namespace, c.checkpoint_id for update;
end;
$$;
