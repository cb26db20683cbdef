-- Deletes embeddings of queries that were stored more than 30 days ago.
create or replace function memory._sweep_query_embeddings(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select q.ctid
    from memory.query_embeddings as q
    where q.created_at < statement_timestamp() - interval '30 days'
    order by q.created_at
    limit p_batch_size
    for update skip locked);
begin
  delete from memory.query_embeddings as q where q.ctid = any (due);
end;
$$;
