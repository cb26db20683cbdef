create or replace view memory.queue_stats as
select j.kind, j.status, count(*) as jobs, min(j.created_at) as oldest, min(j.run_after) as next_run_after,
  max(j.attempts) as most_attempts
from memory.jobs as j
group by j.kind, j.status
order by j.kind, j.status;
comment on view memory.queue_stats is
'Jobs by kind and status: how many there are, when the oldest was queued, when the first may be handed out '
'(next_run_after), and the most attempts of one of them.';
