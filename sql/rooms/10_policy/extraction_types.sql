-- The types of memories that a policy names for extraction (extraction.types), each with a JSON schema of its fields.

-- Refuses types that are no names, or whose schemas memory._field_problem() cannot check.
create or replace function memory._check_extraction_types(p_types jsonb)
returns void
language plpgsql stable parallel safe
as $$
declare
  name text;
  schema jsonb;
  problem text;
begin
  if jsonb_typeof(p_types) <> 'object' then
    perform memory._refuse('settings', 'extraction.types is not an object',
      'Write it like {"order": {"description": "What was ordered", "properties": {"item": {"type": "string"}}}}.');
  end if;
  for name, schema in select t.key, t.value from jsonb_each(p_types) as t loop
    problem := case
      when not memory._is_id(name) then 'is no name of a type: a type has 1 to 255 characters'
      when jsonb_typeof(schema) <> 'object' then 'is not a JSON schema'
      when coalesce(schema ->> 'type', 'object') <> 'object' then 'describes no object'
      else memory._schema_problem(schema, 1) end;
    if problem is not null then
      perform memory._refuse('settings', format('extraction.types.%s %s', left(name, 100), problem),
        'A schema may have type, title, description, properties, required, enum and items; a type is object, array, '
        'string, number, integer or boolean.');
    end if;
  end loop;
end;
$$;

-- What is wrong with a JSON schema of fields; null for nothing. Schemas with other keywords are refused, because the
-- fields of memories would not be checked against them.
create or replace function memory._schema_problem(p_schema jsonb, p_level int)
returns text
language plpgsql immutable parallel safe
as $$
declare
  known constant text[] := array['type', 'title', 'description', 'properties', 'required', 'enum', 'items'];
  problem text;
begin
  if jsonb_typeof(p_schema) <> 'object' then
    return 'has a part that is no JSON schema';
  elsif p_level > 5 then
    return 'is nested more than 5 levels deep';
  elsif p_schema - known <> '{}' then
    return format('has the unknown keyword "%s"', (
      select left(min(k), 100) from jsonb_object_keys(p_schema - known) as k));
  elsif p_level > 1 and not coalesce(p_schema ->> 'type' = any (
      array['object', 'array', 'string', 'number', 'integer', 'boolean']), p_schema ? 'enum') then
    return 'has a field without a known type';
  elsif jsonb_typeof(coalesce(p_schema -> 'title', '""')) <> 'string'
    or jsonb_typeof(coalesce(p_schema -> 'description', '""')) <> 'string' then
    return 'has a title or description that is no text';
  elsif jsonb_typeof(coalesce(p_schema -> 'enum', '[1]')) <> 'array' or p_schema -> 'enum' = '[]'
    or jsonb_path_exists(p_schema -> 'enum', '$[*] ? (@.type() != "string" && @.type() != "number")') then
    return 'has an enum that is no list of texts or numbers';
  elsif jsonb_typeof(coalesce(p_schema -> 'required', '[]')) <> 'array'
    or exists (select from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) as r
               where not coalesce(p_schema -> 'properties', '{}') ? r) then
    return 'requires a field that is not among its properties';
  elsif jsonb_typeof(coalesce(p_schema -> 'properties', '{}')) <> 'object' then
    return 'has properties that are no object';
  end if;
  select memory._schema_problem(f.value, p_level + 1) into problem
  from (
    select p.value from jsonb_each(coalesce(p_schema -> 'properties', '{}')) as p
    union all
    select p_schema -> 'items' where p_schema ? 'items') as f
  where memory._schema_problem(f.value, p_level + 1) is not null limit 1;
  return problem;
end;
$$;
