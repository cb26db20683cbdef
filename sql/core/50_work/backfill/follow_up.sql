-- Another job follows while a text of this user lacks an embedding of a model.
create or replace function memory._backfill_follow_up(p_job memory.jobs)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return case when (memory._model_to_fill(p_job.user_id)).name is not null then jsonb '{}' end;
end;
$$;
