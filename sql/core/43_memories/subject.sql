-- The value of an attribute in the spelling by which values are compared: without case, accents and marks, but with the
-- point in 6.5, which is not 65. The result is null for a memory without a value.
create or replace function memory._value_of(p_metadata jsonb)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return nullif(memory._plainly_spelled(memory._folded(lower(regexp_replace(
    p_metadata ->> 'value', e'[;!"]|[.,](?![0-9])|(?<=[0-9])[.,](?=[0-9]{3}\\M)', '', 'g')))), '');
end;
$$;

-- The person or thing that a memory is about, as comparisons spell it. A memory that names nobody is about the user.
create or replace function memory._subject(p_subject text)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(nullif(memory._plainly_spelled(p_subject), ''), 'user');
end;
