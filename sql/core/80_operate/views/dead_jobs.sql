create or replace view memory.dead_jobs as
select j.user_id, j.job_id, j.kind, j.scope, j.attempts, j.error, j.created_at, j.finished_at
from memory.jobs as j
where j.status = 'dead'
order by j.finished_at desc;
comment on view memory.dead_jobs is
'Jobs that failed in all their attempts, with the last reason. memory.retry_job() gives them another chance.';
