-- The rules of imported rows, which triggers and functions check for rows that are stored one by one.

-- An expression over a row t and its JSON r.value that names the member which breaks a rule, or is null. The build
-- makes it of the words and types of the columns, and of the table's own rule.
create or replace function memory._import_rule(p_table regclass)
returns text
language plpgsql stable parallel unsafe -- as memory._refused_member()
as $$
begin
  return case (select c.relname from pg_class as c where c.oid = p_table)
    {{each table with exported: when '<table>' then <problem>}}
  end;
end;
$$;

-- The member of a row that the functions refuse which check rows of its kind, and why; null if they refuse none.
create or replace function memory._refused_member(p_kind text, p_row jsonb)
returns text
language plpgsql stable parallel unsafe -- an error is handled
as $$
begin
  case p_kind
    {{each table with checks:
    when '<table>' then perform <checks as code> from jsonb_populate_record(null::memory.<table>, p_row) as t;}}
  end case;
  return null;
exception
  when invalid_parameter_value or program_limit_exceeded then
    return format('%s (%s)', split_part(sqlerrm, ':', 1), sqlerrm);
end;
$$;
