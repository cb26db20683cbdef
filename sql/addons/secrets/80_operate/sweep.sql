-- Deletes old records of who has read secrets.
create or replace function memory._secrets_sweep(p_batch_size int)
returns jsonb
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.secret_reads as r where r.ctid = any (array(
    select o.ctid from memory.secret_reads as o where o.read_at < statement_timestamp() - interval '400 days'
    order by o.read_at limit p_batch_size for update skip locked));
  return jsonb '{}';
end;
$$;
