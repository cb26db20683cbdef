-- Deletes the checkpoints of threads whose last one has expired, of at most so many threads, and returns how many.
create or replace function memory._sweep_checkpoints(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  due record;
  deleted bigint := 0;
begin
  for due in
    select c.user_id, c.thread_id
    from memory.checkpoints as c
    where c.expires_at <= statement_timestamp()
    order by c.expires_at limit p_batch_size for update skip locked
  loop
    if memory._checkpoints_have_expired(due.user_id, due.thread_id) then
      deleted := deleted + memory._delete_checkpoints_of_thread(due.user_id, due.thread_id);
    end if;
  end loop;
  return deleted;
end;
$$;
