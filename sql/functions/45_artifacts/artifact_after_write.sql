-- Queues the embedding of an artifact that is new, or whose description or content changed.
create or replace function memory._artifact_after_write()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on embeddings and jobs
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'UPDATE' then
    perform memory._drop_embedding(new.user_id, 'artifact', new.key);
  end if;
  perform memory._enqueue_embedding(new.user_id);
  return null;
end;
$$;

-- Deletes the embeddings of deleted artifacts.
create or replace function memory._artifacts_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may write need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
  perform memory._drop_embedding(o.user_id, 'artifact', o.key) from old_rows as o;
  return null;
end;
$$;
