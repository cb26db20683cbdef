-- The attributes of lists/attributes.toml with the attributes of the policy laid over them. Each has the value "one" if
-- it holds one value at a time, or "many".
create or replace function memory._attributes(p_settings jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  known constant jsonb := jsonb {{list attributes values}};
begin
  return known || coalesce((
    select jsonb_object_agg(lower(a.key), a.value) from jsonb_each(p_settings -> 'attributes') as a), '{}');
end;
$$;

-- The kind of an attribute: "phone" for "Phone/work". The part after the slash tells two attributes of one kind apart.
create or replace function memory._kind_of_attribute(p_attribute text)
returns text
language sql immutable parallel safe
begin atomic
  select lower(split_part(p_attribute, '/', 1));
end;

-- Whether the attribute of a memory has one value at a time. "phone/work" and "phone/home" each have one value. The
-- result is null for an attribute that no list names.
create or replace function memory._has_one_value(p_memory memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  known constant jsonb := memory._attributes(memory._policy_section(p_memory.user_id, p_memory.agent_id, 'memories'));
begin
  return coalesce(
    known ->> lower(p_memory.attribute), known ->> memory._kind_of_attribute(p_memory.attribute)) = 'one';
end;
$$;

-- The attributes that a text names by a word or phrase of lists/attributes.toml, in any of the list's languages: "Where
-- do I work?" names employer. The function looks up every run of one to four words, and reads only the first 2,000
-- words of a text.
create or replace function memory._attributes_named(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  known constant jsonb := jsonb {{list attributes}};
begin
  return memory._entries_named(p_text, known);
end;
$$;

-- Whether a question asks for a former state: "then" if it has a word of lists/then.toml or a past year, "past" if only
-- its verb is in the past tense, null for a question about now.
create or replace function memory._time_asked(p_query text)
returns text
language plpgsql stable parallel safe
as $$
declare
  known constant jsonb := jsonb {{list then}};
begin
  return case
    when exists (
      select from regexp_matches(left(p_query, 8000), e'\\m((?:19|20)[0-9]{2})\\M', 'g') as y
      where y[1]::int < date_part('year', statement_timestamp())) then 'then'
    else (select max(e) from unnest(memory._entries_named(p_query, known)) as e) end; -- "then" before "past"
end;
$$;

-- The entries of a list that have a phrase which occurs in the text.
create or replace function memory._entries_named(p_text text, p_known jsonb)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  words constant text[] := (regexp_split_to_array(btrim(lower(left(p_text, 20000)), e' \n\t.,;:!?¿¡"()'),
    e'[\\s.,;:!?¿¡"()]+'))[1:2000];
begin
  return array(
    select distinct e.entry
    from generate_subscripts(words, 1) as b (place)
    cross join generate_series(0, 3) as l (others)
    cross join lateral array_to_string(words[b.place : b.place + l.others], ' ') as phrase
    cross join lateral jsonb_array_elements_text(p_known -> phrase) as e (entry)
    where b.place + l.others <= cardinality(words) and p_known ? phrase
    order by 1);
end;
$$;
