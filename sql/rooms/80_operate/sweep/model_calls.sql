-- Deletes model calls of more than 400 days ago. Returns how many.
create or replace function memory._sweep_model_calls(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select c.ctid
    from memory.model_calls as c
    where c.called_at < statement_timestamp() - interval '400 days'
    order by c.called_at
    limit p_batch_size
    for update skip locked);
  swept_calls bigint;
begin
  delete from memory.model_calls as c where c.ctid = any (due);
  get diagnostics swept_calls = row_count;
  return swept_calls;
end;
$$;
