-- Another job follows while the active model lacks an embedding in the job's scope.
create or replace function memory._embed_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  model text := (memory._embedding_model()).name;
begin
  if model is null then
    return null;
  elsif p_job.scope = '' then
    perform from memory.texts_to_embed as l where l.user_id = p_job.user_id limit 1;
  else
    perform from memory._unembedded(p_job.user_id, p_job.scope, model, 1);
  end if;
  return case when found then jsonb '{}' end;
end;
$$;
