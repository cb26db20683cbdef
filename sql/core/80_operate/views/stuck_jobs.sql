create or replace view memory.stuck_jobs as
select j.user_id, j.job_id, j.kind, j.scope, j.attempts, j.worker, j.lease_expires_at,
  statement_timestamp() - j.lease_expires_at as overdue
from memory.jobs as j
where j.status = 'running' and j.lease_expires_at <= statement_timestamp()
order by j.lease_expires_at;
comment on view memory.stuck_jobs is
'Running jobs whose lease ran out (overdue: how long ago): their worker died. The next memory.claim_jobs() hands them '
'out again.';
