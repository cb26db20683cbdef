-- The language whose dictionary parses the words of a text: p_prior, the language of the policy, unless the stop words
-- of the text point to another language. Each word that is a stop word in n languages gives 1/n of a vote to each of
-- them; p_prior gets another half vote. If two languages have equally many votes, the language that comes first in the
-- list wins. Only a text with letters beyond ASCII can be in a language of the second list.
--
-- The votes take 0.3 ms for a sentence. So the function first checks whether p_words, the words by the dictionary of
-- p_prior, have one of the commonest words of other languages. Nearly all texts of an English user under English have
-- none, and get p_prior without votes.
create or replace function memory._language_of(p_said text, p_prior regconfig, p_words tsvector)
returns regconfig
language plpgsql immutable parallel safe
as $$
declare
  sample constant text := left(p_said, 1000);
  -- The constants have a type, because each call would parse untyped constants.
  common constant tsquery := 'and|are|das|de|dei|della|der|des|det|di|die|du|egy|ei|ein|el|em|en|es|est|et|eu|for|gli|'
    'het|ich|ik|il|is|ist|ja|jag|je|jeg|la|le|les|lo|los|mein|meu|mi|mia|mijn|min|minha|mio|mon|my|nem|nicht|och|os|'
    'que|sono|the|um|uma|un|una|une|und|van|ve|you|az|bir|çok|és|là|är|ar|på|pa|и|в|я|не|на|у|с|мой|моя|это'::tsquery;
  stems regdictionary[] :=
    '{english_stem,german_stem,spanish_stem,french_stem,portuguese_stem,italian_stem,dutch_stem}'::regdictionary[];
begin
  if not p_words @@ common or p_prior = 'simple'::regconfig then
    return p_prior;
  end if;
  if octet_length(sample) > length(sample) then
    stems := stems || '{swedish_stem,norwegian_stem,danish_stem,finnish_stem,hungarian_stem,turkish_stem,
      russian_stem}'::regdictionary[];
  end if;
  return coalesce((
    select replace(l.stem::text, '_stem', '')::regconfig
    from (
      select array(select d from unnest(stems) as d where ts_lexize(d, v.lexeme) = '{}') as voted
      from unnest(to_tsvector('simple', sample)) as v limit 60) as w
    cross join unnest(w.voted) as l (stem)
    group by l.stem
    order by sum(1.0 / cardinality(w.voted))
        + case when replace(l.stem::text, '_stem', '') = p_prior::text then 0.5 else 0 end desc,
      array_position(stems, l.stem)
    limit 1), p_prior);
end;
$$;
