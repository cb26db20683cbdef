-- Deletes the embeddings of deleted summaries, and queues those of the summaries that are the newest ones then.
create or replace function memory._summaries_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on embeddings
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._drop_embeddings(g.user_id, 'summary', g.ids)
  from (select o.user_id, array_agg(o.summary_id::text) as ids from old_rows as o group by o.user_id) as g;
  perform memory._embed_latest_summaries(g.user_id, g.threads, g.kinds)
  from (select c.user_id, array_agg(c.thread_id) as threads, array_agg(c.kind) as kinds
        from (select distinct o.user_id, o.thread_id, o.kind from old_rows as o where o.status = 'completed') as c
        group by c.user_id) as g;
  return null;
end;
$$;
