create or replace view memory.stuck_summaries as
select s.user_id, s.thread_id, s.kind, s.summary_id, s.created_at, statement_timestamp() - s.created_at as age
from memory.summaries as s
where s.status = 'processing' and s.created_at < statement_timestamp() - interval '5 minutes'
order by s.created_at;
comment on view memory.stuck_summaries is
'Summaries that have been in process for more than five minutes; memory.stuck_jobs and memory.dead_jobs say why.';
