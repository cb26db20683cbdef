-- Texts of the user that have no embedding of the first model that lacks any.
create or replace function memory._backfill_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
begin
  select * into payload, input, agent_id, tokens
  from memory._embedding_input(p_job.user_id, null, memory._model_to_fill(p_job.user_id));
end;
$$;

-- The first model that lacks an embedding of anything that the user has, the active one first; null when none does.
create or replace function memory._model_to_fill(p_user_id text)
returns memory.models
language plpgsql stable parallel safe
as $$
begin
  return (
    select m from memory.models as m
    where m.kind = 'embedding' and not m.is_off and memory._has_unembedded(p_user_id, null, m.name)
    order by m.is_active desc, m.created_at, m.name limit 1);
end;
$$;
