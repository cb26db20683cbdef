-- Another job follows while the active model lacks an embedding in the job's scope.
create or replace function memory._embed_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  model constant text := (memory._embedding_model()).name;
begin
  return case when model is not null and exists (
    select from memory._unembedded(p_job.user_id, p_job.scope, model, 1)) then jsonb '{}' end;
end;
$$;
