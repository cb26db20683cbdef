-- Deletes the embeddings of one text under every embedding model. The primary key begins with user and model, so the
-- list of models lets PostgreSQL use it.
create or replace function memory._drop_embedding(p_user_id text, p_source text, p_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.embeddings as e
  where e.user_id = p_user_id
    and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = p_source
    and e.id = p_id;
end;
$$;
