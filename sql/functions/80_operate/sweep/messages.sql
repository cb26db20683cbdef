-- Deletes messages that have expired or were cleared, and returns how many. Compressed messages stay until they expire,
-- because search finds them. An expired message that extraction has not read stays as long as it waits for that. At most
-- ten times as many rows are read as are deleted: if more than these wait, what expired later goes when they are read.
create or replace function memory._sweep_messages(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_messages bigint;
begin
  with due as (
    (select m.user_id, m.thread_id, m.seq, m.row_version
     from (select m.*, m.xmin as row_version
           from memory.messages as m
           where m.expires_at <= statement_timestamp() and m.expires_at < 'infinity'
           order by m.expires_at
           limit 10::bigint * p_batch_size) as m
     left join memory.marks as k
       on k.user_id = m.user_id and k.scope = m.thread_id and k.kind = 'extract_memories'
     left join memory._dead_extractions() as d on d.user_id = m.user_id and d.thread_id = m.thread_id
     -- The policy is read last, because that costs more than all other conditions together.
     where not (m.seq > coalesce(k.position, -1) and m.role in ('user', 'assistant')
                and memory._is_kept_message(m.is_active, m.summary_id)
                and memory._waits_for_extraction(m.created_at, m.expires_at)
                and coalesce(d.deaths, 0) < memory._max_dead_extractions()
                and memory._extracts(m.user_id, m.agent_id))
     order by m.expires_at
     limit p_batch_size)
    union
    (select m.user_id, m.thread_id, m.seq, m.xmin
     from memory.messages as m
     where not m.is_active and m.summary_id is null
     limit p_batch_size)
  ), free as materialized (
    select t.user_id, t.thread_id
    from memory.threads as t
    where (t.user_id, t.thread_id) in (select d.user_id, d.thread_id from due as d)
    for no key update skip locked
  ), swept as (
    delete from memory.messages as m
    using (select d.* from due as d join free as f using (user_id, thread_id) limit p_batch_size) as d
    where m.user_id = d.user_id and m.thread_id = d.thread_id and m.seq = d.seq
      and m.xmin = d.row_version -- a message that somebody has changed since then may not be due any more
    returning 1
  )
  select count(*) into swept_messages from swept;
  return swept_messages;
end;
$$;
