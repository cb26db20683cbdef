-- Decides whether two texts may say the same in other words. Embeddings and models take "born in 1985" and "born in
-- 1986", or "eats meat" and "does not eat meat", for the same, so these functions compare such words.

-- The words of a text in lower case. "don't" becomes "do not", and a number keeps its sign and the signs between its
-- digits. The pattern lists the separators and takes every other character as part of a word, because PostgreSQL knows
-- no letters beyond ASCII in a database with locale C.
create or replace function memory._words_of(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  letter constant text := e'[^\\s!"&''()*,./:;<=>?@\\[\\\\\\]^`{|}~\\u0085\\u00a0\\u00a1\\u00ab\\u00b7\\u00bb'
    || e'\\u00bf\\u1680\\u2000-\\u206f\\u3000-\\u3004\\u3008-\\u301f\\u30fb\\ufeff\\uff01-\\uff0f\\uff1a-\\uff20'
    || e'\\uff3b-\\uff40\\uff5b-\\uff65-]';
  said text := lower(p_text);
  short text[];
begin
  if said ~ '[''\u2019]|cannot' then
    foreach short slice 1 in array array[
      ['\mcan[''\u2019]t\M|\mcannot\M', 'can not'], ['\mwon[''\u2019]t\M', 'will not'], ['n[''\u2019]t\M', ' not'],
      ['[''\u2019]m\M', ' am'], ['[''\u2019]re\M', ' are'], ['[''\u2019]s\M', ' is']] loop
      said := regexp_replace(said, short[1], short[2], 'g');
    end loop;
  end if;
  return array(
    select w[1]
    from regexp_matches(
      said, '((?:(?<!\S)-(?=[0-9]))?' || letter || '+(?:(?<=[0-9])[.,:/-](?=[0-9])' || letter || '+)*)', 'g')
      with ordinality as m (w, position)
    order by m.position);
end;
$$;

-- The words of a text without stop words, in the form in which a keyword search compares them.
create or replace function memory._stems_of(p_text text, p_language regconfig)
returns text[]
language sql immutable parallel safe
begin atomic
  select array_remove(tsvector_to_array(memory._text_vector(
    p_language, array_to_string(memory._words_of(p_text), ' '))), 'user');
end;

-- How many of these words turn a statement (lists/turning.txt), such as "not". In scripts without blanks such a word is
-- part of a longer one.
create or replace function memory._turning_words(p_words text[])
returns int
language plpgsql immutable parallel safe
as $$
declare
  known constant text[] := string_to_array({{list turning}}, ' ');
  within constant text := '不|没|沒|无|無|非|未|别|別|勿|讨厌|討厭|嫌|曾|以前|ない|なく|なかっ|ませ|안|못|않|없|아니|싫|ไม่|เคย';
begin
  return (select count(*) from unnest(p_words) as w where w = any (known))
    + (select count(*) from regexp_matches(array_to_string(p_words, ' '), within, 'g'));
end;
$$;

-- Whether a text agrees with another one: it has as many turning words, and all numbers and names of the other text in
-- the same order. A name is a word with a capital letter that does not begin a sentence.
create or replace function memory._agrees_with(p_text text, p_other text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  figures constant text[] := string_to_array({{list figures}}, ' ');
  words constant text[] := memory._words_of(left(p_text, 1000));
  others constant text[] := memory._words_of(left(p_other, 1000));
  names constant text[] := array(
    select lower(n[1])
    from regexp_matches(p_other, e'(?<=[^.!?:;\\s]\\s)([[:upper:]][^\\s.,!?;:]*)', 'g') as n);
  marks constant text[] := array(
    select w from unnest(others) with ordinality as t (w, place)
    where w ~ '[0-9]' or w = any (figures) or w = any (names) order by place);
begin
  return greatest(length(p_text), length(p_other)) <= 1000
    and memory._turning_words(words) = memory._turning_words(others)
    and array(select w from unnest(words) with ordinality as t (w, place) where w = any (marks) order by place) = marks;
end;
$$;

-- Whether two texts may be two wordings of one statement, if a model says that they are. They may if they have the same
-- words in the same order. They also may if one agrees with the other (memory._agrees_with()) and the shorter text
-- shares more than half of its words with the other; but not if they differ only in the order of their words ("Anna
-- owes Bea") or only in one word of several ("Prefers window seats", "Prefers aisle seats").
create or replace function memory._may_be_reworded(p_text text, p_other text, p_language regconfig)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  said constant text[] := memory._words_of(p_text);
  other constant text[] := memory._words_of(p_other);
  stems constant text[] := memory._stems_of(p_text, p_language);
  others constant text[] := memory._stems_of(p_other, p_language);
begin
  return said = other
    or (memory._agrees_with(p_text, p_other) or memory._agrees_with(p_other, p_text))
    and 2 * (select count(*) from unnest(stems) as s where s = any (others))
      > least(cardinality(stems), cardinality(others))
    and not (said <@ other and other <@ said)
    and (cardinality(said) <> cardinality(other) or cardinality(said) = 1
      or (select count(*) from unnest(said, other) as w (word, other) where w.word <> w.other) > 1);
end;
$$;
