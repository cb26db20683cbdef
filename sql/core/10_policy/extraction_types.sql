-- The types of memories that a policy gives extraction (extraction.types), each with a JSON schema of its fields.

-- Refuses types that are no names, or whose schemas the worker that validates fields (chat/replies.py) cannot read.
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
      else memory._schema_problem(schema, 1, schema) end;
    if problem is not null then
      perform memory._refuse('settings', format('extraction.types.%s %s', left(name, 100), problem),
        'A schema may have what pydantic and strict mode write (docs/policies.md); a type is object, array, string, '
        'number, integer, boolean or null.');
    end if;
  end loop;
end;
$$;

-- The problem of a JSON schema of fields; null if there is none. A schema with an unknown keyword is refused, because
-- nothing would check the fields of memories against this keyword. p_root has the definitions ($defs). A schema that
-- refers to itself is refused as nested too deep.
create or replace function memory._schema_problem(p_schema jsonb, p_level int, p_root jsonb)
returns text
language plpgsql immutable parallel safe
as $$
declare
  numbers constant text[] := array['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf',
    'minLength', 'maxLength', 'minItems', 'maxItems'];
  texts constant text[] := array['title', 'description', 'format', 'pattern', '$schema', '$ref'];
  known constant text[] := numbers || texts || array['type', 'properties', 'required', 'enum', 'items', 'anyOf',
    'const', 'default', 'examples', 'additionalProperties', '$defs'];
  problem text;
begin
  if jsonb_typeof(p_schema) <> 'object' then
    return 'has a part that is no JSON schema';
  elsif p_level > 5 then
    return 'is nested more than 5 levels deep';
  elsif p_schema - known <> '{}' then
    return format('has the unknown keyword "%s"', (
      select left(min(k), 100) from jsonb_object_keys(p_schema - known) as k));
  elsif p_schema -> 'type' = '[]'
    or exists (select from jsonb_path_query(p_schema, '$.type[*]') as t where t #>> '{}' <> all (array[
                 'object', 'array', 'string', 'number', 'integer', 'boolean', 'null']))
    or p_level > 1 and not p_schema ?| array['type', 'enum', 'const', 'anyOf', '$ref'] then
    return 'has a field without a known type';
  elsif exists (select from jsonb_each(p_schema) as k
                where k.key = any (texts) and jsonb_typeof(k.value) <> 'string'
                  or k.key = any (numbers) and jsonb_typeof(k.value) <> 'number') then
    return 'has a title, description, pattern or format that is no text, or a limit that is no number';
  elsif jsonb_typeof(coalesce(p_schema -> 'enum', '[1]')) <> 'array' or p_schema -> 'enum' = '[]'
    or jsonb_path_exists(p_schema, 'strict $.enum[*] ? (@.type() == "object" || @.type() == "array")', silent => true)
    or jsonb_typeof(coalesce(p_schema -> 'const', '1')) in ('object', 'array') then
    return 'has an enum that is no list of texts or numbers, or such a const';
  elsif jsonb_typeof(coalesce(p_schema -> 'additionalProperties', 'true')) <> 'boolean' then
    return 'has additionalProperties that are a schema: name the fields in properties';
  elsif jsonb_typeof(coalesce(p_schema -> 'anyOf', '[1]')) <> 'array' or p_schema -> 'anyOf' = '[]' then
    return 'has an anyOf that is no list of schemas';
  elsif p_schema ? '$ref'
    and p_root -> '$defs' -> substring(p_schema ->> '$ref' from '^#/[$]defs/([^/]+)$') is null then
    return 'has a $ref that names none of its $defs';
  elsif jsonb_typeof(coalesce(p_schema -> 'required', '[]')) <> 'array'
    or exists (select from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) as r
               where not coalesce(p_schema -> 'properties', '{}') ? r) then
    return 'requires a field that is not among its properties';
  elsif jsonb_typeof(coalesce(p_schema -> 'properties', '{}')) <> 'object' then
    return 'has properties that are no object';
  end if;
  select f.problem into problem
  from (
    select memory._schema_problem(p.value, p_level + 1, p_root) as problem
    from jsonb_each(coalesce(p_schema -> 'properties', '{}')) as p
    union all
    select memory._schema_problem(p_schema -> 'items', p_level + 1, p_root) where p_schema ? 'items'
    union all
    select memory._schema_problem(a.value, p_level, p_root)
    from jsonb_array_elements(coalesce(p_schema -> 'anyOf', '[]')) as a
    union all
    select memory._schema_problem(
      p_root -> '$defs' -> substring(p_schema ->> '$ref' from '[^/]+$'), p_level + 1, p_root) where p_schema ? '$ref'
  ) as f
  where f.problem is not null limit 1;
  return problem;
end;
$$;
