-- Views for administrators.
create or replace view memory.queue_stats as
select j.kind, j.status, count(*) as jobs, min(j.created_at) as oldest, min(j.run_after) as next_run_after, max(j.attempts) as most_attempts
from memory.jobs as j group by j.kind, j.status order by j.kind, j.status;
comment on view memory.queue_stats is 'Jobs by kind and status.';

create or replace view memory.dead_jobs as
select j.user_id, j.job_id, j.kind, j.scope, j.attempts, j.error, j.created_at, j.finished_at
from memory.jobs as j where j.status = 'dead' order by j.finished_at desc;
comment on view memory.dead_jobs is 'Jobs that failed in all their attempts, with the last reason. memory.retry_job() gives them another chance.';

create or replace view memory.stuck_jobs as
select j.user_id, j.job_id, j.kind, j.scope, j.attempts, j.worker, j.lease_expires_at, statement_timestamp() - j.lease_expires_at as overdue
from memory.jobs as j where j.status = 'running' and j.lease_expires_at <= statement_timestamp() order by j.lease_expires_at;
comment on view memory.stuck_jobs is 'Running jobs whose lease ran out: their worker died. The next memory.claim_jobs() hands them out again.';

create or replace view memory.thread_stats as
select t.user_id, t.thread_id, t.message_count, t.active_tokens, t.next_seq, coalesce(k.position, -1) as extracted_seq, t.first_at, t.last_at
from memory.threads as t left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories';
comment on view memory.thread_stats is 'Threads with their counters and how far memory extraction has read. Sum them per user for a user''s totals.';

create or replace view memory.summary_chain as
select s.user_id, s.thread_id, s.summary_id, s.base_summary_id, b.end_seq as base_end_seq, s.start_seq, s.end_seq,
  s.end_seq - s.start_seq + 1 as window_size, s.status, s.generation_time_ms, s.created_at, s.kind
from memory.summaries as s
left join memory.summaries as b on b.user_id = s.user_id and b.summary_id = s.base_summary_id
order by s.user_id, s.thread_id, s.kind, s.end_seq;
comment on view memory.summary_chain is 'All summaries in order, each with the one it continued.';

create or replace view memory.stuck_summaries as
select s.user_id, s.thread_id, s.kind, s.summary_id, s.created_at, statement_timestamp() - s.created_at as age
from memory.summaries as s
where s.status = 'processing' and s.created_at < statement_timestamp() - interval '5 minutes' order by s.created_at;
comment on view memory.stuck_summaries is 'Summaries that have been in process for more than five minutes; memory.stuck_jobs and memory.dead_jobs say why.';

create or replace view memory.summary_windows as
select s.user_id, s.thread_id, s.start_seq, s.end_seq, s.end_seq - s.start_seq + 1 as window_size, s.generation_time_ms, s.created_at
from memory.summaries as s where s.kind = 'rolling' and s.status = 'completed' order by s.created_at desc;
comment on view memory.summary_windows is 'How the windows of rolling summaries move on, newest first.';

create or replace view memory.summary_times as
select s.kind, count(*) as total_summaries, round(avg(s.generation_time_ms)) as avg_ms, max(s.generation_time_ms) as max_ms
from memory.summaries as s where s.status = 'completed' and s.generation_time_ms is not null group by s.kind;
comment on view memory.summary_times is 'How long models take to summarise, by kind of summary.';

create or replace view memory.model_usage as
select date_trunc('day', c.called_at, 'UTC')::date as day, c.model, c.user_id, c.agent_id, c.kind, count(*) as calls,
  count(c.error) as failed_calls, sum(c.tokens_in)::bigint as tokens_in, sum(c.tokens_out)::bigint as tokens_out, sum(c.price) as price,
  round(avg(c.duration_ms))::bigint as avg_ms, max(c.duration_ms) as max_ms
from memory.model_calls as c group by 1, 2, 3, 4, 5;
comment on view memory.model_usage is 'The ledger of model calls by UTC day, model, user, agent and kind of job. Sum over what you do not ask for.';

create or replace view memory.retry_storms as
select c.user_id, c.job_id, c.kind, c.model, count(*) as failed_calls, sum(c.tokens_in + coalesce(c.tokens_out, 0))::bigint as tokens_wasted, max(c.called_at) as last_at,
  (array_agg(c.error order by c.called_at desc))[1] as last_error
from memory.model_calls as c
where c.error is not null and c.called_at > statement_timestamp() - interval '1 day'
group by c.user_id, c.job_id, c.kind, c.model having count(*) >= 3 order by count(*) desc;
comment on view memory.retry_storms is 'Jobs with three or more failed calls within a day, and what these used up.';
