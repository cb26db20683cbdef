-- Deletes records of secrets that were read more than 400 days ago.
create or replace function memory._sweep_secret_reads(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select r.ctid
    from memory.secret_reads as r
    where r.read_at < statement_timestamp() - interval '400 days'
    order by r.read_at
    limit p_batch_size
    for update skip locked);
begin
  delete from memory.secret_reads as r where r.ctid = any (due);
end;
$$;
