-- These functions compare the claims of two memories by their words, before a model's decision ("these two are
-- duplicates", "these two contradict each other") or near embeddings let one memory hide another.

-- The words of a text in lower case, in order, without common English words such as "a" or "is". A number is one word
-- with the characters between its digits (3.5, 10:30, 2024-05-01), a minus sign before it, and a sign of a currency or
-- a unit (€70, 20%). "don't" becomes "do not". The pattern lists the separators and takes every other character as part
-- of a word: in a database with locale C, PostgreSQL knows no letters beyond ASCII.
create or replace function memory._claim_words(p_content text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  letter constant text := e'[^\\s!"&''()*,./:;<=>?@\\[\\\\\\]^`{|}~\\u0085\\u00a0\\u00a1\\u00ab\\u00b7\\u00bb'
    || e'\\u00bf\\u1680\\u2000-\\u206f\\u3000-\\u3004\\u3008-\\u301f\\u30fb\\ufeff\\uff01-\\uff0f\\uff1a-\\uff20'
    || e'\\uff3b-\\uff40\\uff5b-\\uff65-]';
  said text := lower(p_content);
begin
  said := regexp_replace(said, e'\\mcan[''\\u2019]t\\M|\\mcannot\\M', 'can not', 'g');
  said := regexp_replace(said, e'\\mwon[''\\u2019]t\\M', 'will not', 'g');
  said := regexp_replace(said, e'n[''\\u2019]t\\M', ' not', 'g');
  said := regexp_replace(said, e'(^|[\\s(])-([0-9])', e'\\1\u2212\\2', 'g');
  return array(
    select w[1]
    from regexp_matches(said, '(' || letter || '+(?:(?<=[0-9])[.,:/-](?=[0-9])' || letter || '+)*)', 'g')
      with ordinality as m (w, position)
    where w[1] <> all (string_to_array(
      'a an the i me my am is are s m re ve do does that really very so just also and too actually user', ' '))
    order by m.position);
end;
$$;

-- The number of words that turn a claim into another claim: negations (not), aversions (hates), and words that put the
-- claim into the past (former), into the future (plans) or in doubt (maybe). The list covers about 30 languages. In
-- other languages the number is 0; there memory._says_all_of() still requires that the winner has all words of the
-- loser.
create or replace function memory._turning_words(p_words text[])
returns int
language plpgsql immutable parallel safe
as $$
declare
  known constant text[] := string_to_array(
    'not no never none nobody nothing neither nor without dont doesnt didnt isnt arent wasnt wont hate hates'
    ' hated dislike dislikes disliked avoid avoids avoided stop stops stopped quit quits former formerly'
    ' previously ex used was were had will ll would might maybe perhaps could should almost if unless until except'
    ' hardly rarely refuse refuses refused deny denies denied unable lack lacks lacked false untrue wrong gave sold'
    ' divorced cancelled want wants wanted plan plans planned hope hopes hoped wish wishes considers considering'
    ' nicht kein keine keinen'
    ' keinem keiner keines nie niemals nichts ohne weder hasst hasse ungern früher ehemals war waren wird werde'
    ' würde vielleicht ne n pas jamais aucun aucune rien sans ni déteste évite ancien ancienne était nunca jamás'
    ' ningún ninguna ninguno nada sin tampoco odia odio evita antes era dejó non mai nessun nessuno nessuna niente'
    ' senza né smesso não nao nenhum nenhuma sem nem odeia odeio parou niet geen nooit niets zonder haat vroeger'
    ' ikke ikkje inte aldri aldrig ingen inget inga intet uten utan uden hater hatar hader ei eivät ilman vihaa'
    ' nigdy nikt nic żaden żadna bez nikdy není nejsem nemá не нет ни никогда ничего никто без ненавидит ні немає'
    ' ніколи değil yok hiç asla nem soha semmi nincs nélkül nu niciodată nimic fără δεν δε όχι μη μην ποτέ χωρίς'
    ' لا ليس ليست لم لن بدون غير نه نیست هرگز לא אין בלי नहीं नही मत बिना tidak bukan tak jangan tanpa belum không'
    ' chẳng chưa đừng', ' ');
  -- In scripts without blanks a turning word is part of a longer word.
  within constant text := '不|没|沒|无|無|非|未|别|別|勿|讨厌|討厭|嫌|曾|以前|ない|なく|なかっ|ませ|안|못|않|없|아니|싫|ไม่|เคย';
begin
  return (select count(*) from unnest(p_words) as w where w = any (known))
    + (select count(*) from regexp_matches(array_to_string(p_words, ' '), within, 'g'));
end;
$$;

-- Whether a word is a figure: a number, a weekday or a month. Two memories with different figures are never duplicates.
create or replace function memory._is_figure(p_word text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return p_word ~ ('[0-9]|^('
    'zero|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve|twenty|thirty|forty|fifty|hundred|'
    'thousand|million|first|second|third|once|twice|monday|tuesday|wednesday|thursday|friday|saturday|sunday|'
    'january|february|march|april|may|june|july|august|september|october|november|december|null|eins|zwei|drei|'
    'vier|fünf|sechs|sieben|acht|neun|zehn|elf|zwölf|montag|dienstag|mittwoch|donnerstag|freitag|samstag|'
    'sonntag|januar|februar|märz|mai|juni|juli|oktober|dezember|deux|trois|quatre|cinq|sept|huit|neuf|dix|'
    'lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|juin|juillet|août|'
    'septembre|octobre|novembre|décembre|dos|tres|cuatro|cinco|siete|ocho|nueve|diez|lunes|martes|miércoles|'
    'jueves|viernes|sábado|domingo|enero|febrero|marzo|abril|mayo|junio|julio|agosto|septiembre|octubre|'
    'noviembre|diciembre'
    ')$');
end;
$$;

-- The claim of a memory as a JSON object. The result is null for a content of more than 1,000 characters. Such memories
-- are never compared, so no model can hide them.
--   words    the words of memory._claim_words()
--   stems    the stems of these words in order, without the stop words of p_language. A past tense has another stem
--            than the present ("lived" is no "lives"); the verbs of liking share one stem.
--   figures  each number, weekday and month with the stem after it, because "2 cats, 3 dogs" is not "3 cats, 2 dogs"
--   names    capitalised words that do not begin a sentence
--   turns    the number of memory._turning_words()
create or replace function memory._claim(p_content text, p_language regconfig)
returns jsonb
language plpgsql stable parallel safe
as $$
declare
  liking constant text[] := string_to_array('like likes liked love loves enjoy enjoys prefer prefers adores', ' ');
  words constant text[] := memory._claim_words(left(p_content, 1000));
  stems text[];
begin
  if length(p_content) > 1000 then
    return null;
  end if;
  stems := array(
    select case when w.word = any (liking) then 'like' when w.word ~ '[a-z]ed$' then s.stem || '+ed' else s.stem end
    from unnest(words) with ordinality as w (word, position)
    -- Words with signs are their own stems, because the text search parser drops signs: "C++" would become "c".
    cross join lateral (
      select case when memory._is_figure(w.word) or w.word ~ e'[$€£¥%+#°\u2212]' then w.word
                  else array_to_string(tsvector_to_array(to_tsvector(p_language, w.word)), ' ') end as stem) as s
    where s.stem <> '' order by w.position);
  return jsonb_build_object(
    'words', words, 'stems', stems,
    'figures', array(select concat_ws(' ', s.stem, stems[s.position + 1])
                     from unnest(stems) with ordinality as s (stem, position) where memory._is_figure(s.stem)),
    'names', memory._claim_words((
      select string_agg(n[1], ' ')
      from regexp_matches(p_content, e'(?<=[^.!?:;\\s]\\s)([[:upper:]][^\\s.,!?;:]*)', 'g') as n)),
    'turns', memory._turning_words(words));
end;
$$;

-- The entries of a JSON array of strings, in order.
create or replace function memory._texts(p_value jsonb)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(select t from jsonb_array_elements_text(p_value) with ordinality as e (t, position) order by e.position);
end;
$$;

-- Whether a word is part of another word, in a script without blanks (such as Chinese or Thai), where
-- memory._claim_words() takes a whole phrase for one word.
create or replace function memory._is_within(p_word text, p_other text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return strpos(p_other, p_word) > 0
    and p_word ~ (e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff'
      || e'\\u3040-\\u30ff\\u3400-\\u9fff\\uac00-\\ud7af\\uf900-\\ufaff]');
end;
$$;

-- Whether all p_words occur in p_among in the same order. Other words may stand between them.
create or replace function memory._are_in_order(p_words text[], p_among text[])
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  position int := 1;
  other text;
begin
  foreach other in array p_among loop
    if other = p_words[position] or memory._is_within(p_words[position], other) then
      position := position + 1;
    end if;
  end loop;
  return position > cardinality(p_words);
end;
$$;

-- Whether a claim says all that the other claim says. Then hiding the other claim loses nothing. Both claims must have
-- the same number of turning words. With p_is_exact, the claim must have every word of the other claim in the same
-- order; otherwise every stem in any order, and every figure.
create or replace function memory._says_all_of(p_claim jsonb, p_other jsonb, p_is_exact boolean)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  stems constant text[] := memory._texts(p_claim -> 'stems');
begin
  if (p_claim -> 'turns' = p_other -> 'turns') is not true then
    return false;
  elsif p_is_exact then
    return p_other -> 'words' <> '[]'
      and memory._are_in_order(memory._texts(p_other -> 'words'), memory._texts(p_claim -> 'words'));
  end if;
  return p_other -> 'stems' <> '[]'
    and not exists (
      select from jsonb_array_elements_text(p_other -> 'stems') as s
      where s <> all (stems) and not exists (select from unnest(stems) as t where memory._is_within(s, t)))
    and not exists (
      select from jsonb_array_elements_text(p_other -> 'figures') as f
      where not exists (select from jsonb_array_elements_text(p_claim -> 'figures') as g
                        where g = f or starts_with(g, f || ' ')));
end;
$$;

-- Whether two memories with near embeddings also agree in words that hardly change an embedding: "born in 1985" and
-- "born in 1986" have nearly the same embedding. Both claims must have the same number of turning words, and the claim
-- must have the figures and the names of the other claim in the same order.
create or replace function memory._agrees_with(p_claim jsonb, p_other jsonb)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(p_claim -> 'turns' = p_other -> 'turns'
    and memory._are_in_order(
      array(select split_part(f, ' ', 1) from jsonb_array_elements_text(p_other -> 'figures') as f),
      array(select split_part(f, ' ', 1) from jsonb_array_elements_text(p_claim -> 'figures') as f))
    and memory._are_in_order(memory._texts(p_other -> 'names'), memory._texts(p_claim -> 'words')), false);
end;
$$;

-- Whether two wordings of claims about one subject may say the same, so that the newer one may hide the older one as
-- its duplicate. They may not if each has a number that the other lacks; if one has all stems of the other and turns
-- them ("Eats meat", "Does not eat meat"); if they differ in one of several words ("Prefers window seats", "Prefers
-- aisle seats") or in the order of their words ("Anna owes Bea", "Bea owes Anna"). Of 120 paraphrases in four languages
-- the function refuses 1 (bench/results/reconciliation.md). A text in a script without blanks counts as one word here.
create or replace function memory._may_be_reworded(p_claim jsonb, p_other jsonb)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  words constant text[] := memory._texts(p_claim -> 'words');
  others constant text[] := memory._texts(p_other -> 'words');
  numbers constant text[] := array(select n[1] from regexp_matches(p_claim ->> 'words', '[0-9]+', 'g') as n);
  other_numbers constant text[] := array(select n[1] from regexp_matches(p_other ->> 'words', '[0-9]+', 'g') as n);
begin
  return coalesce(
    (numbers <@ other_numbers or other_numbers <@ numbers)
    and (p_claim -> 'turns' = p_other -> 'turns'
      or cardinality(words || others) > 2 and not memory._texts(p_claim -> 'stems') <@ memory._texts(p_other -> 'stems')
        and not memory._texts(p_other -> 'stems') <@ memory._texts(p_claim -> 'stems'))
    and not (words <@ others and others <@ words)
    and (cardinality(words) = 1 or cardinality(words) <> cardinality(others)
      or (select count(*) from unnest(words, others) as w (word, other) where w.word <> w.other) > 1), false);
end;
$$;
