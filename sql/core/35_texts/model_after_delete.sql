-- Deletes the embeddings of a deleted model and their index. Otherwise the next model of that name would be compared
-- with them.
create or replace function memory._model_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
declare
  made constant regclass := memory._vector_index(old.name);
begin
  delete from memory.embeddings as e where e.model = old.name;
  update memory.texts as t set model = null, embedding = null, code = null where t.model = old.name;
  delete from memory.query_embeddings as k where k.model = old.name;
  if made is not null then
    execute format('drop index %s', made);
  end if;
  return null;
end;
$$;
