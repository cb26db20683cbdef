create or replace view memory.summary_chain as
select s.user_id, s.thread_id, s.summary_id, s.base_summary_id, b.end_seq as base_end_seq, s.start_seq, s.end_seq,
  s.end_seq - s.start_seq + 1 as window_size, s.status, s.generation_time_ms, s.created_at, s.kind
from memory.summaries as s
left join memory.summaries as b on b.user_id = s.user_id and b.summary_id = s.base_summary_id
order by s.user_id, s.thread_id, s.kind, s.end_seq;
comment on view memory.summary_chain is
'All summaries in order, each with the summary it continued (base_summary_id, which ended at base_end_seq) and the '
'number of messages it covers (window_size).';
