create or replace view memory.summary_windows as
select s.user_id, s.thread_id, s.start_seq, s.end_seq, s.end_seq - s.start_seq + 1 as window_size,
  s.generation_time_ms, s.created_at
from memory.summaries as s
where s.kind = 'rolling' and s.status = 'completed'
order by s.created_at desc;
comment on view memory.summary_windows is 'How the windows of rolling summaries move on, newest first.';
