-- Refusals: one wording and one SQLSTATE for each kind of bad argument.
create or replace function memory._refuse(p_argument text, p_problem text, p_hint text, p_code text default '22023')
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  -- A problem may quote what was passed, and what was passed may have 100 MB: no log should take that.
  raise exception '%: %', p_argument, left(p_problem, 2000) using errcode = p_code, hint = p_hint;
end;
$$;
