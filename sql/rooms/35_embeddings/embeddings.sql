-- Whether a text has an embedding of the model. A function of PL/pgSQL, so that a plan made without statistics cannot
-- read all embeddings of the user.
create or replace function memory._is_embedded(p_user_id text, p_model text, p_source text, p_id text)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (select from memory.embeddings as e
                 where e.user_id = p_user_id and e.model = p_model and e.source = p_source and e.id = p_id);
end;
$$;

-- Deletes the embeddings of texts under every embedding model. The primary key begins with user and model, so the list
-- of models lets PostgreSQL use it. An array, because a join with the deleted rows is planned badly while the table has
-- no statistics, and a call for each row took 30 of the 45 s in which a thread of 1,000,000 messages was deleted.
create or replace function memory._drop_embeddings(p_user_id text, p_source text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.embeddings as e
  where e.user_id = p_user_id
    and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = p_source
    and e.id = any (p_ids);
end;
$$;
