-- A long message may be stored elsewhere (memory._shortened()). A placeholder then takes its place.

-- Whether a placeholder could be shorter than a content. If so, the caller has to read the policy.
create or replace function memory._may_be_long(p_content text)
returns boolean
language sql immutable parallel safe
begin atomic
  select octet_length(p_content) > 300;
end;

-- The placeholder of an artifact in the text of the message that names it; null if there is none.
create or replace function memory._ref_in(p_content text, p_key text)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_key is not null then
    substring(p_content from
      e'\\[MemoryRef: ' || regexp_replace(p_key, '([.+])', e'\\\\\\1', 'g') || e'(?: - [^][]*)?\\]') end;
end;

-- The metadata of a message whose text has been replaced by p_text. If metadata.content holds the parts of the message,
-- the first text among them becomes p_text and the other texts are removed.
create or replace function memory._with_text(p_metadata jsonb, p_text text)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  if jsonb_typeof(p_metadata -> 'content') is distinct from 'array' then
    return p_metadata;
  end if;
  return p_metadata || jsonb_build_object('content', (
    select coalesce(jsonb_agg(case p.text_place when 1 then p.part || jsonb_build_object('text', p_text) else p.part end
                              order by p.place), '[]')
    from (
      select e.part, e.place, case when e.part ->> 'type' = 'text' then
          count(*) filter (where e.part ->> 'type' = 'text') over (order by e.place) end as text_place
      from jsonb_array_elements(p_metadata -> 'content') with ordinality as e (part, place)) as p
    where p.text_place is null or p.text_place = 1));
end;
$$;
