-- Deletes artifacts that have expired. Returns how many.
create or replace function memory._sweep_artifacts(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_artifacts bigint;
begin
  -- Materialized: a join might run the subquery twice, which would lock and delete twice as many rows.
  with due as materialized (
    select a.user_id, a.key
    from memory.artifacts as a
    where a.expires_at <= statement_timestamp()
    order by a.expires_at
    limit p_batch_size
    for update skip locked
  ), swept as (
    delete from memory.artifacts as a using due as d
    where a.user_id = d.user_id and a.key = d.key
    returning 1
  )
  select count(*) into swept_artifacts from swept;
  return swept_artifacts;
end;
$$;
