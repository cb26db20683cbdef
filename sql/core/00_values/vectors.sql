-- needs pgvector on the search_path

-- These functions name the types and operators of pgvector, so that other files need no pgvector schema on their
-- search_path.

-- Makes a vector of a JSON array of numbers, or of a JSON string that contains such an array.
create or replace function memory._halfvec(p_value jsonb)
returns halfvec
language sql immutable parallel safe
begin atomic
  select (p_value #>> '{}')::halfvec;
end;

-- The vector as a halfvec. A halfvec represents only numbers from 0.0001 to 65504 well, so the function scales a vector
-- that is much shorter or longer to length 1. Search uses only the direction of a vector.
create or replace function memory._to_halfvec(p_value vector)
returns halfvec
language sql immutable parallel safe
begin atomic
  select (case when vector_norm(p_value) between 0.01 and 60000 then p_value else l2_normalize(p_value) end)::halfvec;
end;

create or replace function memory._dimensions(p_value halfvec)
returns int
language sql immutable parallel safe
begin atomic
  select vector_dims(p_value);
end;

create or replace function memory._dimensions(p_value vector)
returns int
language sql immutable parallel safe
begin atomic
  select vector_dims(p_value);
end;

-- The cosine similarity of two vectors; null when one vector is all zeros. Vectors of different dimensions raise an
-- error.
create or replace function memory._cosine_similarity(p_a halfvec, p_b halfvec)
returns double precision
language sql immutable parallel safe
begin atomic
  select nullif(1 - (p_a <=> p_b), 'NaN');
end;

-- The binary code of a vector: the signs of its components as bits. The fewer bits of two codes differ, the more
-- similar the vectors usually are.
create or replace function memory._code(p_value halfvec)
returns bit varying
language sql immutable parallel safe
begin atomic
  select binary_quantize(p_value);
end;

-- The number of bits in which two codes differ. Codes of different lengths raise an error.
create or replace function memory._bits_apart(p_a bit varying, p_b bit varying)
returns double precision
language sql immutable parallel safe
begin atomic
  select p_a <~> p_b;
end;

-- The length of a vector; 0 if all its components are zero. Such a vector has no direction.
create or replace function memory._norm(p_value halfvec)
returns double precision
language sql immutable parallel safe
begin atomic
  select l2_norm(p_value);
end;

-- The schema of pgvector, for dynamic SQL.
create or replace function memory._vector_schema()
returns text
language plpgsql stable parallel safe
as $$
begin
  return n.nspname
  from pg_extension as e
  join pg_namespace as n on n.oid = e.extnamespace
  where e.extname = 'vector';
end;
$$;
