-- Texts of the job's scope that have no embedding of the active model.
create or replace function memory._embed_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  model constant memory.models := memory._embedding_model();
begin
  if model.name is not null then
    select i.* into payload, input, agent_id, tokens
    from memory._embedding_input(p_job.user_id, p_job.scope, model) as i;
  end if;
end;
$$;
