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
select t.user_id, t.thread_id, t.message_count, t.active_tokens, t.next_seq, coalesce(e.extracted_seq, -1) as extracted_seq, t.first_at, t.last_at
from memory.threads as t left join memory.extraction_marks as e using (user_id, thread_id);
comment on view memory.thread_stats is 'Threads with their counters and how far memory extraction has read. Sum them per user for a user''s totals.';

create or replace view memory.summary_chain as
select s.user_id, s.thread_id, s.summary_id, s.base_summary_id, b.end_seq as base_end_seq, s.start_seq, s.end_seq,
  s.end_seq - s.start_seq + 1 as window_size, s.status, s.generation_time_ms, s.created_at
from memory.summaries as s
left join memory.summaries as b on b.user_id = s.user_id and b.summary_id = s.base_summary_id
order by s.user_id, s.thread_id, s.end_seq;
comment on view memory.summary_chain is 'Rolling summaries of each thread in order, each with the one it continued.';
