-- Deletes the embeddings of deleted summaries.
create or replace function memory._summaries_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._drop_embeddings(g.user_id, 'summary', g.ids)
  from (select o.user_id, array_agg(o.summary_id::text) as ids from old_rows as o group by o.user_id) as g;
  return null;
end;
$$;
