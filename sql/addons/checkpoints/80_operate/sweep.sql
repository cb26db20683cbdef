-- Deletes the checkpoints of at most p_batch_size threads whose last checkpoint has expired, and returns their number.
-- A thread is left for the next call if another session holds one of its checkpoints.
create or replace function memory._checkpoints_sweep(p_batch_size int)
returns jsonb
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
    order by c.expires_at limit p_batch_size
  loop
    if (select count(*) from (
          select from memory.checkpoints as c
          where c.user_id = due.user_id and c.thread_id = due.thread_id for update skip locked) as free)
        = (select count(*) from memory.checkpoints as c
           where c.user_id = due.user_id and c.thread_id = due.thread_id)
      and memory._checkpoints_have_expired(due.user_id, due.thread_id) then
      deleted := deleted + memory._delete_checkpoints_of_thread(due.user_id, due.thread_id);
    end if;
  end loop;
  return jsonb_build_object('checkpoints', deleted);
end;
$$;
