-- Takes updated and deleted messages out of their threads' counters, or back in, once per statement. Threads are
-- locked in the order of their ids. Deleted messages leave their idempotency keys behind.
create or replace function memory._messages_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'DELETE' then
    -- A key counts as long as its thread exists.
    insert into memory.idempotency_keys (user_id, thread_id, idempotency_key, seq, digest, token_count)
    select t.user_id, t.thread_id, o.idempotency_key, o.seq, memory._stored_digest(o::memory.messages), o.token_count
    from old_rows as o
    join memory.threads as t on t.user_id = o.user_id and t.thread_id = o.thread_id
    where o.idempotency_key is not null
    on conflict do nothing;
    if exists (select from memory.quarantined_messages as q) then -- after the keys, which need what these said
      delete from memory.quarantined_messages as q
      where (q.user_id, q.thread_id, q.seq) in (select o.user_id, o.thread_id, o.seq from old_rows as o);
    end if;
    if exists (select from memory.shown_rounds as s) then
      delete from memory.shown_rounds as s where s.ctid = any (array(
        select d.ctid
        from old_rows as o
        join memory.shown_rounds as d on d.user_id = o.user_id and d.thread_id = o.thread_id and d.seq = o.seq
        where o.role = 'user'
        for update of d skip locked)); -- a reader that keeps another round in its place waits for the thread
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
    -- "except" and not "not exists", for which a session keeps the nested loop of a first update of one row: to clear
    -- 4,000 outputs took 1.5 s instead of 0.2 then, and four times that for twice as many.
    perform memory._check_artifact_soon(g.user_id, g.artifact_key)
    from (select o.user_id, o.artifact_key from old_rows as o where o.artifact_key is not null
          except
          select n.user_id, n.artifact_key from new_rows as n) as g;
    perform memory._count_messages(c.user_id, c.thread_id, c.messages, c.tokens)
    from (select r.user_id, r.thread_id, sum(r.messages) as messages, sum(r.tokens) as tokens
          from (select o.user_id, o.thread_id, -1 as messages, -o.token_count as tokens
                from old_rows as o where o.is_active
                union all
                select n.user_id, n.thread_id, 1, n.token_count from new_rows as n where n.is_active) as r
          group by 1, 2 having sum(r.messages) <> 0 or sum(r.tokens) <> 0 order by 1, 2) as c;
    -- Grouped and not joined, for which a session keeps the nested loop of a first update of one row.
    insert into memory.new_changes (user_id, source, id, seq, operation)
    select c.user_id, 'message', c.thread_id, c.seq, case
        when not c.is_kept then 'deleted'
        when not c.is_active or c.is_hidden then 'hidden'
        when c.was_active then 'changed'
        else 'added' end
    from (
      select r.user_id, r.thread_id, r.seq, min(r.said) <> max(r.said) as is_reworded,
        bool_or(r.is_active) filter (where not r.is_new) as was_active,
        bool_or(r.is_active) filter (where r.is_new) as is_active,
        bool_or(r.is_kept) filter (where r.is_new) as is_kept,
        bool_or(r.is_hidden) filter (where r.is_new) as is_hidden
      from (
        select m.user_id, m.thread_id, m.seq, m.is_new, m.is_active, md5(concat(m.content, m.metadata)) as said,
          memory._is_kept_message(m.is_active, m.summary_id) as is_kept,
          starts_with(m.content, memory._quarantine_notice()) as is_hidden
        from (select o.*, false as is_new from old_rows as o
              union all
              select n.*, true from new_rows as n) as m) as r
      group by 1, 2, 3) as c
    where c.is_active <> c.was_active or c.is_reworded;
  end if;
  return null;
end;
$$;

-- Adds to a thread's counters; the numbers are negative for messages that were taken out. With p_messages 0 a job has
-- put exact counts of tokens in place of estimates. No job has read these messages before, so they are newer than the
-- newest summary, and tokens_since_summary changes, too. The estimate, bytes / 4, is a quarter too high for English
-- prose; if it stayed, every third summary would be made for that reason alone. A text that is edited may be one that
-- a summary covers, whose tokens are not in tokens_since_summary, so that never goes below 0.
create or replace function memory._count_messages(p_user_id text, p_thread_id text, p_messages bigint, p_tokens bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set message_count = memory._counted_on(t.message_count, p_messages),
      active_tokens = memory._counted_on(t.active_tokens, p_tokens),
      tokens_since_summary = memory._counted_on(t.tokens_since_summary, case p_messages when 0 then p_tokens else 0 end)
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
end;
$$;
