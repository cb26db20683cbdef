-- Locks a space before it is forgotten: waits for the transactions that write in the space, and makes later ones wait.
create or replace function memory._lock_space(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.spaces as s where s.user_id = p_user_id for update;
end;
$$;
