-- Whoever deletes a model deletes its embeddings and their index, or they would meet those of the next one of that name.
create or replace function memory._model_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.embeddings as e where e.model = old.name;
  delete from memory.query_embeddings as k where k.model = old.name;
  if memory._vector_index(old.name) is not null then
    execute format('drop index %s', memory._vector_index(old.name));
  end if;
  return null;
end;
$$;
