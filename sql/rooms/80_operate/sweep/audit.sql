-- Deletes records of administrative calls of more than 400 days ago.
create or replace function memory._sweep_audit(p_batch_size int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  due constant tid[] := array(
    select a.ctid
    from memory.audit as a
    where a.at < statement_timestamp() - interval '400 days'
    order by a.at
    limit p_batch_size
    for update skip locked);
begin
  delete from memory.audit as a where a.ctid = any (due);
end;
$$;
