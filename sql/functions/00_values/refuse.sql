-- Refusals: one wording and one SQLSTATE for each kind of bad argument.
create or replace function memory._refuse(argument text, problem text, hint text, code text default '22023')
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A problem may quote what was passed, and what was passed may have 100 MB: no log should take that.
  raise exception '%: %', argument, left(problem, 2000) using errcode = code, hint = hint;
end;
$$;
