-- The rules of imported rows, which triggers and functions check for rows that are stored one by one.

-- An expression over a row t and its JSON r.value that names the member which breaks a rule, or is null. The build
-- makes it of the words and types of the columns, and of the table's own rule.
create or replace function memory._import_rule(p_kind text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case p_kind
    {{each table with exported: when '<table>' then <problem>}}
  end;
end;
$$;

-- The member of a row ($1) that these checks refuse, and why; null if they refuse none.
create or replace function memory._refused_member(p_row anyelement, p_checks text)
returns text
language plpgsql stable parallel unsafe -- an error is handled
as $$
begin
  execute 'select ' || p_checks using p_row;
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('%s (%s)', split_part(sqlerrm, ':', 1), sqlerrm);
end;
$$;
