-- The spelling by which values are compared: without case, accents and marks, but 6.5 is not 65. Null for no value.
create or replace function memory._same_spelling(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if getdatabaseencoding() = 'UTF8' then
    p_text := regexp_replace(normalize(p_text, nfd), '[\u0300-\u036f]', '', 'g');
  end if;
  return nullif(memory._plainly_spelled(
    regexp_replace(p_text, e'[;!"]|[.,](?![0-9])|(?<=[0-9])[.,](?=[0-9]{3}\\M)', '', 'g')), '');
end;
$$;

-- The person or thing that a memory is about, for comparisons: the user, if the memory names nobody.
create or replace function memory._subject(p_subject text)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(nullif(memory._plainly_spelled(p_subject), ''), 'user');
end;

-- The subject that metadata names, for applications that store memories as JSON; null for anything else.
create or replace function memory._subject_in(p_metadata jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select case when jsonb_typeof(p_metadata -> 'subject') = 'string'
    and length(btrim(p_metadata ->> 'subject')) between 1 and 255 then btrim(p_metadata ->> 'subject') end;
end;
