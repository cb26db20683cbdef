-- Deletes embeddings of queries that were stored more than 30 days ago.
create or replace function memory._sweep_query_embeddings(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  with due as materialized (
    select q.user_id, q.model, q.query_hash
    from memory.query_embeddings as q
    where q.created_at < statement_timestamp() - interval '30 days'
    order by q.created_at
    limit p_batch_size
    for update skip locked
  )
  delete from memory.query_embeddings as q using due as d
  where q.user_id = d.user_id and q.model = d.model and q.query_hash = d.query_hash;
end;
$$;
