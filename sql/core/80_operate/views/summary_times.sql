create or replace view memory.summary_times as
select s.kind, count(*) as total_summaries, round(avg(s.generation_time_ms)) as avg_ms,
  max(s.generation_time_ms) as max_ms
from memory.summaries as s
where s.status = 'completed' and s.generation_time_ms is not null
group by s.kind;
comment on view memory.summary_times is
'How many milliseconds models take to summarise, on average and at most, by kind of summary.';
