-- needs pgvector on the search_path

create or replace function memory._halfvec(value jsonb)
returns halfvec
language sql immutable parallel safe
begin atomic
  select (value #>> '{}')::halfvec;
end;

-- Only the direction counts, and a halfvec holds 0.0001 to 65504 well.
create or replace function memory._to_halfvec(value vector)
returns halfvec
language sql immutable parallel safe
begin atomic
  select (case when vector_norm(value) between 0.01 and 60000 then value else l2_normalize(value) end)::halfvec;
end;

create or replace function memory._dimensions(value halfvec)
returns int
language sql immutable parallel safe
begin atomic
  select vector_dims(value);
end;

create or replace function memory._dimensions(value vector)
returns int
language sql immutable parallel safe
begin atomic
  select vector_dims(value);
end;

-- Null where one of them has no direction. Of vectors of different lengths it is an error.
create or replace function memory._cosine_similarity(a halfvec, b halfvec)
returns double precision
language sql immutable parallel safe
begin atomic
  select nullif(1 - (a <=> b), 'NaN');
end;

create or replace function memory._has_direction(value halfvec)
returns boolean
language sql immutable parallel safe
begin atomic
  select l2_norm(value) > 0;
end;

-- For statements that are put together when they run.
create or replace function memory._vector_schema()
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return n.nspname from pg_extension as e join pg_namespace as n on n.oid = e.extnamespace where e.extname = 'vector';
end;
$$;
