-- Stores the rows of one kind of an export. Triggers ignore these rows, so this function applies the rules.
create or replace function memory._import_rows(p_user_id text, p_kind text, p_rows jsonb)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  relation constant regclass := format('memory.%I', p_kind);
  -- Reads the JSON as rows of their table, with their places. $1 has the rows, $2 is the user.
  source constant text := format(
    'jsonb_array_elements($1) with ordinality as r (value, place) cross join lateral jsonb_populate_record('
    'null::%s, r.value || jsonb_build_object(''user_id'', $2)) as t', relation);
  kind record;
  known text[];
  place bigint;
  problem text;
begin
  if p_rows = '[]' then
    return;
  end if;
  select k.* into kind from memory._export_kinds() as k where k.kind = p_kind;
  -- The members that an export may have. Others, such as another user's id or a counter, are refused.
  known := array(
    select a.attname::text
    from pg_attribute as a
    where a.attrelid = relation and a.attnum > 0 and not a.attisdropped
      and a.attname <> 'user_id' and a.attname <> all (kind.left_out));
  select r.place - 1, k.name into place, problem
  from jsonb_array_elements(p_rows) with ordinality as r (value, place)
  cross join lateral jsonb_object_keys(r.value) as k (name)
  where k.name <> all (known)
  limit 1;
  if found then
    perform memory._refuse('export', format('%s[%s] has an unknown member "%s"', p_kind, place, left(problem, 50)),
      'Known members: ' || array_to_string(known, ', ') || '.');
  end if;
  begin
    -- Finds the first row that breaks a rule, and the member that breaks it.
    execute format('select r.place - 1, p.problem from %s cross join lateral (select %s as problem) as p '
      'where p.problem is not null limit 1',
      source, memory._import_rule(relation))
    into place, problem using p_rows, p_user_id;
    if problem is not null then
      perform memory._refuse('export', format('%s[%s].%s is not valid', p_kind, place, problem),
        'See docs/export.schema.json, and the rules of the function that stores such a row.');
    end if;
    execute memory._import_statement(relation, p_rows, kind.imported, source) using p_rows, p_user_id;
    case p_kind
      {{each table with after_import: when '<table>' then <after_import as code>;}}
      else
    end case;
  exception
    -- The causes are a number that is too large, a text that is no time, a missing member, or two rows with one key.
    when data_exception or integrity_constraint_violation or syntax_error_or_access_rule_violation then
      if sqlerrm like 'export: %' then
        raise;
      end if;
      perform memory._refuse('export', memory._place_of_row(p_kind, p_rows) || ': ' || sqlerrm,
        'See docs/export.schema.json.');
  end;
end;
$$;

-- The statement that stores the rows. A column that the rows lack gets its default, so that an export of an earlier
-- version can be imported. p_made has values that the rows lack.
create or replace function memory._import_statement(p_table regclass, p_rows jsonb, p_made jsonb, p_source text)
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select format('insert into %s (%s) select %s from %s', p_table, string_agg(quote_ident(c.name), ', '),
      string_agg(coalesce(p_made ->> c.name, 't.' || quote_ident(c.name)), ', '), p_source)
    from (
      select k from jsonb_array_elements(p_rows) as r cross join lateral jsonb_object_keys(r) as k
      union select 'user_id'
      union select k from jsonb_object_keys(p_made) as k) as c (name));
end;
$$;

-- Names, for an error, the first row that its table cannot hold; only the kind if the rows do not fit together.
create or replace function memory._place_of_row(p_kind text, p_rows jsonb)
returns text
language plpgsql stable parallel unsafe
as $$
declare
  item record;
begin
  for item in select r.place - 1 as place, r.value from jsonb_array_elements(p_rows) with ordinality as r (value, place)
  loop
    begin
      execute format('select jsonb_populate_record(null::memory.%I, $1)', p_kind) using item.value;
    exception when others then
      return format('%s[%s]', p_kind, item.place);
    end;
  end loop;
  return p_kind;
end;
$$;
