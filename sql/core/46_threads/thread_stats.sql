-- Expired messages are subtracted from the counters of threads, because a counter goes down only when memory.sweep()
-- deletes the messages. An index on expires_at finds them, so only those expired since the last sweep cost time.
create or replace view memory.thread_stats as
select t.user_id, t.thread_id, t.message_count - coalesce(e.messages, 0) as message_count,
  t.active_tokens - coalesce(e.tokens, 0) as active_tokens, t.next_seq,
  coalesce(k.position, -1) as extracted_seq, t.first_at, t.last_at
from memory.threads as t
left join (
  select m.user_id, m.thread_id, count(*) as messages, sum(m.token_count) as tokens
  from memory.messages as m
  where m.is_active and m.expires_at <= statement_timestamp() and m.expires_at < 'infinity'
  group by m.user_id, m.thread_id) as e on e.user_id = t.user_id and e.thread_id = t.thread_id
left join memory.marks as k
  on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories';
comment on view memory.thread_stats is
'Threads with their counters. extracted_seq is the newest message that memory extraction has read, -1 before the '
'first. Sum the counters per user for a user''s totals.';
