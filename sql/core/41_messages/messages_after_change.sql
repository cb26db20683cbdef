-- Takes updated and deleted messages out of their threads' counters, or back in, once per statement. Threads are
-- locked in the order of their ids. Deleted messages leave their idempotency keys behind.
create or replace function memory._messages_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  thread record;
begin
  if tg_op = 'DELETE' then
    -- A deleted message keeps its key for as long as its thread exists.
    insert into memory.idempotency_keys (user_id, thread_id, idempotency_key, seq, digest, token_count)
    select t.user_id, t.thread_id, o.idempotency_key, o.seq, memory._stored_digest(o::memory.messages), o.token_count
    from old_rows as o
    join memory.threads as t on t.user_id = o.user_id and t.thread_id = o.thread_id
    where o.idempotency_key is not null
    on conflict do nothing;
    if exists (select from memory.quarantined_messages as q) then -- after the keys, whose digests need these texts
      delete from memory.quarantined_messages as q
      where (q.user_id, q.thread_id, q.seq) in (select o.user_id, o.thread_id, o.seq from old_rows as o);
    end if;
    if exists (select from memory.shown_rounds as s) then
      delete from memory.shown_rounds as s where s.ctid = any (array(
        select d.ctid
        from old_rows as o
        join memory.shown_rounds as d on d.user_id = o.user_id and d.thread_id = o.thread_id and d.seq = o.seq
        where o.role = 'user'
        for update of d skip locked)); -- a reader that stores another round there waits for the thread
    end if;
    perform memory._check_artifact_soon(o.user_id, o.artifact_key) from old_rows as o where o.artifact_key is not null;
    insert into memory.new_changes (user_id, source, id, seq, operation)
    select o.user_id, 'message', o.thread_id, o.seq, memory._gone() from old_rows as o
    where memory._is_kept_message(o.is_active, o.summary_id); -- others were noted when they were cleared
    perform memory._count_messages(c.user_id, c.thread_id, c.messages, c.tokens)
    from (select o.user_id, o.thread_id, -count(*) as messages, -sum(o.token_count) as tokens
          from old_rows as o where o.is_active
          group by 1, 2 order by 1, 2) as c;
  else
    -- Uses "except", because for "not exists" a session keeps the nested loop of its first update of one row.
    perform memory._check_artifact_soon(g.user_id, g.artifact_key)
    from (select o.user_id, o.artifact_key from old_rows as o where o.artifact_key is not null
          except
          select n.user_id, n.artifact_key from new_rows as n) as g;
    for thread in
      -- Groups the rows, because for a join a session keeps the nested loop of its first update of one row.
      with changed as materialized (
        select m.user_id, m.thread_id, m.seq, count(distinct md5(concat(m.content, m.metadata))) > 1 as is_reworded,
          bool_or(m.is_active) filter (where m.sign = -1) as was_active,
          bool_or(m.is_active) filter (where m.sign = 1) as is_active,
          bool_or(memory._is_kept_message(m.is_active, m.summary_id)) filter (where m.sign = 1) as is_kept,
          bool_or(starts_with(m.content, memory._quarantine_notice())) filter (where m.sign = 1) as is_hidden,
          coalesce(sum(m.sign) filter (where m.is_active), 0) as messages,
          coalesce(sum(m.sign * m.token_count) filter (where m.is_active), 0) as tokens
        from (select o.*, -1 as sign from old_rows as o union all select n.*, 1 from new_rows as n) as m
        group by 1, 2, 3
      ), noted as (
        insert into memory.new_changes (user_id, source, id, seq, operation)
        select c.user_id, 'message', c.thread_id, c.seq, case
            when not c.is_kept then 'deleted'
            when not c.is_active or c.is_hidden then 'hidden'
            when c.was_active then 'changed'
            else 'added' end
        from changed as c where c.is_active <> c.was_active or c.is_reworded
      )
      select c.user_id, c.thread_id, sum(c.messages)::bigint as messages, sum(c.tokens)::bigint as tokens
      from changed as c
      group by 1, 2 having sum(c.messages) <> 0 or sum(c.tokens) <> 0 order by 1, 2
    loop
      perform memory._count_messages(thread.user_id, thread.thread_id, thread.messages, thread.tokens);
    end loop;
  end if;
  return null;
end;
$$;
