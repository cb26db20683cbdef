-- Deletes the embeddings of deleted summaries.
create or replace function memory._summaries_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
  perform memory._drop_embedding(o.user_id, 'summary', o.summary_id::text) from old_rows as o;
  return null;
end;
$$;
