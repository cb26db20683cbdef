-- For memory.doctor() and memory.status(), which look for jobs that failed. Without these indexes each of five checks
-- read all jobs: 20 to 40 ms each of 200,000 (PostgreSQL 15, two busy cores). A job that never fails is in neither.
create index jobs_failed_idx on memory.jobs (run_after) where status = 'pending' and error is not null;
create index jobs_dead_idx on memory.jobs (finished_at) where status = 'dead';
