-- What later changes do to the thread's counters, once per statement. Threads are locked in one order.
create or replace function memory._messages_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  delta record;
begin
  if tg_op = 'DELETE' then
    -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
    perform memory._drop_embedding(o.user_id, 'message', o.thread_id || '/' || o.seq) from old_rows as o;
    perform memory._keep_key(o) from old_rows as o where o.idempotency_key is not null;
    for delta in
      select o.user_id, o.thread_id, -count(*) as messages, -sum(o.token_count) as tokens
      from old_rows as o where o.is_active group by 1, 2 order by 1, 2
    loop
      update memory.threads as t
      set message_count = t.message_count + delta.messages, active_tokens = t.active_tokens + delta.tokens
      where t.user_id = delta.user_id and t.thread_id = delta.thread_id;
    end loop;
  else
    for delta in
      select c.user_id, c.thread_id, sum(c.messages) as messages, sum(c.tokens) as tokens
      from (select o.user_id, o.thread_id, -1 as messages, -o.token_count as tokens from old_rows as o where o.is_active
            union all
            select n.user_id, n.thread_id, 1, n.token_count from new_rows as n where n.is_active) as c
      group by 1, 2 having sum(c.messages) <> 0 or sum(c.tokens) <> 0 order by 1, 2
    loop
      update memory.threads as t
      set message_count = t.message_count + delta.messages, active_tokens = t.active_tokens + delta.tokens
      where t.user_id = delta.user_id and t.thread_id = delta.thread_id;
    end loop;
  end if;
  return null;
end;
$$;
