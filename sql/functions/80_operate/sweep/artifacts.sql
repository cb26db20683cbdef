-- Deletes artifacts that have expired. Returns how many.
create or replace function memory._sweep_artifacts(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select a.ctid
    from memory.artifacts as a
    where a.expires_at <= statement_timestamp()
    order by a.expires_at
    limit p_batch_size
    for update skip locked);
  swept_artifacts bigint;
begin
  delete from memory.artifacts as a where a.ctid = any (due);
  get diagnostics swept_artifacts = row_count;
  return swept_artifacts;
end;
$$;
