-- Stores embeddings of the model for which the job was handed out, and makes searches use the active model's.
create or replace function memory._backfill_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  outcome constant jsonb := memory._store_embeddings(p_job, p_result);
begin
  perform memory._serve_active_model(p_job.user_id, 1000);
  return outcome;
end;
$$;
