-- Whether an id has 1 to 255 characters.
create or replace function memory._is_id(p_id text)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_id <> '' and length(p_id) <= 255) is true;
end;

-- Whether metadata is a JSON object of at most 1 MiB; null for null.
create or replace function memory._is_metadata(p_metadata jsonb)
returns boolean
language sql stable parallel safe -- pg_column_size() is stable
begin atomic
  select jsonb_typeof(p_metadata) = 'object' and pg_column_size(p_metadata) <= 1048576;
end;

-- Whether a start or an end (valid_from, valid_to, expires_at) is null, infinite or in the years 1 to 9999.
create or replace function memory._is_bound(p_moment timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
  select (isfinite(p_moment) and not memory._is_real_moment(p_moment)) is not true;
end;
