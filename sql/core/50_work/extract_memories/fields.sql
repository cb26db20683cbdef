-- The problem of a value that should obey a schema of memory._schema_problem(), with its place; null if there is none.
-- A null stands for a missing field.
create or replace function memory._field_problem(p_schema jsonb, p_value jsonb, p_path text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  -- A choice of schemas is not checked here, because the worker has validated the value against it (chat/replies.py).
  kind constant text := case
    when jsonb_typeof(p_schema -> 'type') = 'string' then p_schema ->> 'type'
    when p_schema ?| array['enum', 'const', 'anyOf', '$ref', 'type'] then 'any'
    else 'object' end;
  part record;
  problem text;
begin
  if kind <> 'any' and jsonb_typeof(p_value) <> (case kind when 'integer' then 'number' else kind end)
    or kind = 'integer' and p_value::numeric % 1 <> 0 then
    return format('%s must be of type %s', p_path, kind);
  elsif p_schema ? 'enum' and not p_schema -> 'enum' @> jsonb_build_array(p_value) then
    return format('%s must be one of %s', p_path, left(p_schema ->> 'enum', 500));
  elsif kind = 'array' then
    for part in select e.position - 1 as position, e.value
                from jsonb_array_elements(p_value) with ordinality as e (value, position) where p_schema ? 'items' loop
      problem := coalesce(problem, memory._field_problem(
        p_schema -> 'items', part.value, format('%s[%s]', p_path, part.position)));
    end loop;
  elsif kind = 'object' then
    select format('%s.%s is missing', p_path, r) into problem
    from jsonb_array_elements_text(coalesce(p_schema -> 'required', '[]')) as r
    where coalesce(p_value -> r, 'null') = 'null'
      and not jsonb_path_exists(p_schema -> 'properties' -> r, '$.anyOf[*].type ? (@ == "null")')
      and not jsonb_path_exists(p_schema -> 'properties' -> r, '$.type ? (@ == "null")')
    limit 1;
    for part in select f.key, f.value from jsonb_each(p_value) as f where f.value <> 'null' loop
      problem := coalesce(problem, case
        when not p_schema ? 'properties' then null
        when p_schema -> 'properties' ? part.key then memory._field_problem(
          p_schema -> 'properties' -> part.key, part.value, format('%s.%s', p_path, part.key))
        else format('%s.%s is no field of this type', p_path, left(part.key, 100)) end);
    end loop;
  end if;
  return problem;
end;
$$;
