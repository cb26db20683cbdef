-- The language by which the words of a text are parsed: p_prior, that of the policy, unless the text tells another one
-- by its stop words. Each word that is a stop word in n languages is 1/n of a vote for each, p_prior has half a vote
-- more. Of two languages with equally many the first of the list is taken. Languages of the second list are told by
-- texts with letters beyond ASCII only.
--
-- Votes take 0.3 ms for a sentence. So texts among whose words by the prior's dictionary (p_words) is none of the
-- commonest of other languages are let go before: nearly all texts of an English user under English, and so on.
create or replace function memory._language_of(p_said text, p_prior regconfig, p_words tsvector)
returns regconfig
language plpgsql immutable parallel safe
as $$
declare
  sample constant text := left(p_said, 1000);
  -- Typed, or each call would read the constants.
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
