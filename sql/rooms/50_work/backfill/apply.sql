-- Stores the embeddings for the model that the job was handed out for.
create or replace function memory._backfill_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  return memory._store_embeddings(p_job, p_result);
end;
$$;
