-- Deletes model calls of more than 400 days ago. Returns how many.
create or replace function memory._sweep_model_calls(p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_calls bigint;
begin
  with due as materialized (
    select c.user_id, c.call_id
    from memory.model_calls as c
    where c.called_at < statement_timestamp() - interval '400 days'
    order by c.called_at
    limit p_batch_size
    for update skip locked
  )
  delete from memory.model_calls as c using due as d
  where c.user_id = d.user_id and c.call_id = d.call_id;
  get diagnostics swept_calls = row_count;
  return swept_calls;
end;
$$;
