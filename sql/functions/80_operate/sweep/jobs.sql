-- Deletes jobs that were completed more than 7 days ago, or that died more than 30 days ago. Returns how many.
create or replace function memory._sweep_jobs(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_jobs bigint;
begin
  -- Materialized: a join might run the subquery twice, which would lock and delete twice as many rows.
  with due as materialized (
    select j.user_id, j.job_id
    from memory.jobs as j
    where j.status in ('completed', 'dead')
      and j.finished_at < statement_timestamp() - interval '7 days' -- for the index
      and (j.status = 'completed' or j.finished_at < statement_timestamp() - interval '30 days')
    order by j.finished_at
    limit p_batch_size
    for update skip locked
  ), swept as (
    delete from memory.jobs as j using due as d
    where j.user_id = d.user_id and j.job_id = d.job_id
    returning 1
  )
  select count(*) into swept_jobs from swept;
  return swept_jobs;
end;
$$;

-- Deletes what was kept of jobs that were deleted more than 7 days ago.
create or replace function memory._sweep_gone_jobs(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with due as materialized (
    select g.user_id, g.job_id
    from memory.gone_jobs as g
    where g.gone_at < statement_timestamp() - interval '7 days'
    order by g.gone_at
    limit p_batch_size
    for update skip locked
  )
  delete from memory.gone_jobs as g using due as d
  where g.user_id = d.user_id and g.job_id = d.job_id;
end;
$$;
