-- Texts of the job's scope that have no embedding of the active model.
create or replace function memory._embed_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
begin
  select * into payload, input, agent_id, tokens
  from memory._embedding_input(p_job.user_id, p_job.scope, memory._embedding_model());
end;
$$;
