-- Whether an id has 1 to 255 characters. Inlined by the planner, hence no SET clause.
create or replace function memory._is_id(p_id text)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_id <> '' and length(p_id) <= 255) is true;
end;

-- Whether metadata is a JSON object of at most 1 MiB; null for null. Inlined by the planner, hence no SET clause.
create or replace function memory._is_metadata(p_metadata jsonb)
returns boolean
language sql stable parallel safe -- pg_column_size() is stable
begin atomic
  select jsonb_typeof(p_metadata) = 'object' and pg_column_size(p_metadata) <= 1048576;
end;
