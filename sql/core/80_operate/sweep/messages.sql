-- Deletes messages that have expired or were cleared, and returns how many. Compressed messages stay until they expire,
-- because search finds them. An expired message that extraction has not read stays as long as it waits for extraction.
-- Expired rows are read in windows of ten times as many as may be deleted, at most five windows (500,000 rows by
-- default), until enough are found. So many waiting rows, say of one user, do not hold up messages that expired after
-- them.
create or replace function memory._sweep_messages(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  wanted_rows constant bigint := 10::bigint * p_batch_size;
  looked_at bigint; -- the rows of this window
  swept bigint;
  passed bigint := 0; -- expired rows of earlier windows that stay
  swept_messages bigint := 0;
begin
  for attempt in 1 .. 5 loop
    with expired as materialized (
      select m.user_id, m.thread_id, m.seq, m.agent_id, m.row_version, m.expires_at,
        m.seq > coalesce(k.position, -1) and d.is_given_up is null and m.awaits as may_wait
      from (select m.user_id, m.thread_id, m.seq, m.agent_id, m.xmin as row_version, m.expires_at,
              memory._awaits_extraction(m) as awaits
            from memory.messages as m
            where m.expires_at <= statement_timestamp() and m.expires_at < 'infinity'
            order by m.expires_at
            offset passed limit wanted_rows) as m
      left join memory.marks as k
        on k.user_id = m.user_id and k.scope = m.thread_id and k.kind = 'extract_memories'
      left join (select e.* from memory._dead_extractions() as e where e.is_given_up) as d
        on d.user_id = m.user_id and d.thread_id = m.thread_id
    ), wanted as materialized (
      -- The policy is read once per agent, because that costs more than all other conditions together.
      select a.user_id, a.agent_id
      from (select distinct e.user_id, e.agent_id from expired as e where e.may_wait offset 0) as a
      where memory._extracts(memory._policy(a.user_id, a.agent_id))
    ), due as (
      (select e.user_id, e.thread_id, e.seq, e.row_version
       from expired as e
       where not (e.may_wait and (e.user_id, e.agent_id) in (select w.user_id, w.agent_id from wanted as w))
       order by e.expires_at
       limit p_batch_size - swept_messages)
      union
      (select m.user_id, m.thread_id, m.seq, m.xmin
       from memory.messages as m
       where not memory._is_kept_message(m.is_active, m.summary_id)
       limit p_batch_size - swept_messages)
    ), free as materialized (
      select t.user_id, t.thread_id
      from memory.threads as t
      where (t.user_id, t.thread_id) in (select d.user_id, d.thread_id from due as d)
      for no key update skip locked
    ), gone as (
      delete from memory.messages as m
      using (select d.* from due as d join free as f using (user_id, thread_id)
             limit p_batch_size - swept_messages) as d
      where m.user_id = d.user_id and m.thread_id = d.thread_id and m.seq = d.seq
        and m.xmin = d.row_version -- a message that somebody has changed since then may not be due any more
      returning 1
    )
    select (select count(*) from expired), (select count(*) from gone) into looked_at, swept;
    passed := passed + looked_at - swept;
    swept_messages := swept_messages + swept;
    exit when looked_at < wanted_rows or swept_messages >= p_batch_size;
  end loop;
  return swept_messages;
end;
$$;
