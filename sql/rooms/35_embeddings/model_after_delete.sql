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
  delete from memory.query_embeddings as k where k.model = old.name;
  if not exists (select from memory.models as m where m.kind = 'embedding') then
    delete from memory.texts_to_embed; -- no job would remove them, and the first backfill finds all texts
  end if;
  if made is not null then
    execute format('drop index %s', made);
  end if;
  return null;
end;
$$;
