-- Adds to the embedding of a message what a search needs to choose among many messages without reading them: the
-- agent, the time, and the signs of the embedding.
create or replace function memory._message_embedding_before_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on messages
set search_path = pg_catalog, pg_temp
as $$
declare
  embedded record;
begin
  new.code := memory._code(new.embedding);
  select m.agent_id, m.created_at into embedded
  from memory.messages as m
  where m.user_id = new.user_id and m.thread_id = memory._thread_of(new.id) and m.seq = memory._seq_of(new.id);
  -- A copy of the database may bring embeddings before messages: then the embedding keeps its own columns.
  if found then
    new.agent_id := embedded.agent_id;
    new.created_at := embedded.created_at;
  end if;
  return new;
end;
$$;
