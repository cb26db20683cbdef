-- The texts of the user that lack an embedding of the model memory._model_to_fill().
create or replace function memory._backfill_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  model constant memory.models := memory._model_to_fill(p_job.user_id);
begin
  if model.name is not null then
    select i.* into payload, input, agent_id, tokens
    from memory._embedding_input(p_job.user_id, null, model) as i;
  end if;
end;
$$;

-- The first model that lacks an embedding of a text of the user, the active model first; null when no model lacks one.
create or replace function memory._model_to_fill(p_user_id text)
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return (
    select m from memory.models as m
    where m.kind = 'embedding' and not m.is_off
      and exists (select from memory._unembedded(p_user_id, null, m.name, 1))
    order by m.is_active desc, m.created_at, m.name limit 1);
end;
$$;
