-- The rules of imported rows. For rows that are stored one by one, triggers and functions check the same rules.

-- An expression over a row t and its JSON r.value. It names the member that breaks a rule, or is null. The build makes
-- the expression from the words and types of the columns, and from the table's own rule.
create or replace function memory._import_rule(p_table regclass)
returns text
language plpgsql stable parallel unsafe -- because memory._refused_member() is
as $$
begin
  return case (select c.relname from pg_class as c where c.oid = p_table)
    {{each table with exported: when '<table>' then <problem>}}
  end;
end;
$$;

-- The member that the functions which check rows of this kind refuse, and why; null if they refuse nothing.
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
