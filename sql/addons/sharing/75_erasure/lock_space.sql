-- Locks a space that is to be forgotten: transactions that write there end before, and later ones wait.
create or replace function memory._lock_space(p_user_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.spaces as s where s.user_id = p_user_id for update;
end;
$$;
