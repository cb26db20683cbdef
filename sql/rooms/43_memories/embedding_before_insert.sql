-- Copies the agent and the times of a memory to its new embedding, so that a search without filters need not join the
-- two. memory._memory_before_write() keeps the times equal when the memory changes.
create or replace function memory._embedding_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  embedded memory.memories;
begin
  select m.* into embedded
  from memory.memories as m
  where m.user_id = new.user_id
    and m.memory_id = new.id::uuid
  for share; -- a session that is changing the memory could not see this embedding
  -- A copy of the database may bring embeddings before memories. Then the embedding keeps its own columns.
  if found then
    new.agent_id := embedded.agent_id;
    new.created_at := embedded.created_at;
    new.valid_until := memory._valid_until(embedded);
  end if;
  return new;
end;
$$;
