-- Under all models: one that is being filled has embeddings too.
create or replace function memory._drop_embedding(user_id text, source text, id text)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.embeddings as e
  where e.user_id = _drop_embedding.user_id and e.model = any (array(select m.name from memory.models as m where m.kind = 'embedding'))
    and e.source = _drop_embedding.source and e.id = _drop_embedding.id;
end;
$$;
