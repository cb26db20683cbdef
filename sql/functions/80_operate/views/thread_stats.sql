create or replace view memory.thread_stats as
select t.user_id, t.thread_id, t.message_count - coalesce(e.messages, 0) as message_count,
  t.active_tokens - coalesce(e.tokens, 0) as active_tokens, t.next_seq,
  coalesce(k.position, -1) as extracted_seq, t.first_at, t.last_at
from memory.threads as t
left join memory._expired_in_threads() as e on e.user_id = t.user_id and e.thread_id = t.thread_id
left join memory.marks as k
  on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories';
comment on view memory.thread_stats is
'Threads with their counters. extracted_seq is the newest message that memory extraction has read, -1 before the '
'first. Sum the counters per user for a user''s totals.';
