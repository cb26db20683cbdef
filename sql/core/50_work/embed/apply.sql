-- Stores the embeddings of the active model, and queues a backfill for the models that are not active.
create or replace function memory._embed_apply(p_job memory.jobs, p_result jsonb)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
declare
  outcome jsonb := memory._store_embeddings(p_job, p_result);
begin
  if not outcome ? 'skipped' and exists (
    select from memory.models as m where m.kind = 'embedding' and not m.is_active and not m.is_off) then
    perform memory._enqueue_due(p_job.user_id, 'backfill', '');
  end if;
  return outcome;
end;
$$;
