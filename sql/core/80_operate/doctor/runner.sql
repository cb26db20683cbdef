-- Whether memory.run_jobs() can call models.
create or replace function memory._has_runner()
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from pg_proc as p join pg_language as l on l.oid = p.prolang
    where p.oid = to_regprocedure('memory.run_jobs(int, int)') and l.lanname = 'plpython3u');
end;
$$;
