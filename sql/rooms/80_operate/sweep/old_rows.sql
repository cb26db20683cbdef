-- Deletes the rows of a table that are older than p_age, the oldest first and at most p_batch_size of them, and returns
-- how many. Rows that another transaction has locked are left to the next call.
create or replace function memory._sweep_old_rows(p_table text, p_column text, p_age interval, p_batch_size int)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  swept_rows bigint;
begin
  execute format(
    'delete from memory.%1$I as d where d.ctid = any (array(
       select t.ctid from memory.%1$I as t where t.%2$I < statement_timestamp() - $1
       order by t.%2$I limit $2 for update skip locked))',
    p_table, p_column)
  using p_age, p_batch_size;
  get diagnostics swept_rows = row_count;
  return swept_rows;
end;
$$;
