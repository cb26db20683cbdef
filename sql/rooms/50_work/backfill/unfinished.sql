-- Leaves an entry when the job is dead, so that memory.sweep() queues a job for the texts that have no embedding.
create or replace function memory._backfill_unfinished(p_job memory.jobs, p_goes_on boolean)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  insert into memory.texts_to_embed (user_id, source, id)
  select p_job.user_id, '', '' where p_job.status = 'dead' and not p_goes_on;
end;
$$;
