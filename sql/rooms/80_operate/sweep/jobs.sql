-- Deletes jobs that were completed more than 7 days ago, or that died more than 30 days ago. Returns how many.
create or replace function memory._sweep_jobs(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select j.ctid
    from memory.jobs as j
    where j.status in ('completed', 'dead')
      and j.finished_at < statement_timestamp() - interval '7 days' -- for the index
      and (j.status = 'completed' or j.finished_at < statement_timestamp() - interval '30 days')
    order by j.finished_at
    limit p_batch_size
    for update skip locked);
  swept_jobs bigint;
begin
  delete from memory.jobs as j where j.ctid = any (due);
  get diagnostics swept_jobs = row_count;
  return swept_jobs;
end;
$$;
