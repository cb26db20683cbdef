-- Deletes messages that have expired or were cleared, and returns how many. Compressed messages stay until they expire,
-- because search finds them.
create or replace function memory._sweep_messages(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_messages bigint;
begin
  with due as (
    (select m.user_id, m.thread_id, m.seq, m.xmin as row_version
     from memory.messages as m
     where m.expires_at <= statement_timestamp() and m.expires_at < 'infinity'
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
