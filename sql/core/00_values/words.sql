-- The words by which a keyword search finds a text, without accents. The function reads only the first 975,000 and the
-- last 65,000 characters of a text of more than 1,040,000, because 600 kB take 0.3 s in English and 0.5 s in Chinese.
-- It parses the text in stretches. These overlap, because the end of a stretch may cut a word. A tsvector holds 1 MiB:
-- words after the first 65,000 characters have no positions, and the function leaves out each stretch whose words do
-- not fit. It parses the last stretch second, so that the end of the text fits.
create or replace function memory._text_vector(p_prior regconfig, p_content text)
returns tsvector
language plpgsql immutable parallel safe
set client_min_messages = warning -- PostgreSQL leaves out each word of more than 2,046 bytes with a NOTICE
as $$
declare
  stretch constant int := 65000;
  vector tsvector;
  part tsvector;
begin
  if octet_length(p_content) <= stretch or length(p_content) <= stretch then
    vector := memory._words_as_said(p_prior, p_content);
    return case when octet_length(p_content) > length(p_content) then memory._folded_vector(vector) else vector end;
  end if;
  vector := memory._words_as_said(p_prior, left(p_content, stretch + 250));
  for number in 1 .. least((length(p_content) - 1) / stretch, 15) loop
    part := strip(memory._words_as_said(p_prior, case number
      when 1 then right(p_content, stretch)
      else substr(p_content, (number - 1) * stretch + 1, stretch + 250) end));
    vector := case when pg_column_size(vector) + pg_column_size(part) < 1048576 then vector || part else vector end;
  end loop;
  return memory._folded_vector(vector);
end;
$$;

-- The words of a text with their accents, by the dictionary of the text's own language. If this language is not that of
-- the policy (p_prior), the result also has the words by the policy's dictionary, because queries find names by them.
-- The result also has emoji, the parts of compounds that PostgreSQL's parser keeps whole (node.js, src/app.py,
-- ana@example.org), and two kinds of stop words that are names: those with a capital letter within a sentence ("I saw
-- The Who"), and those of a text that has no other words. For scripts without spaces between words the result has each
-- character and each pair of neighbours.
create or replace function memory._words_as_said(p_prior regconfig, p_content text)
returns tsvector
language plpgsql immutable parallel safe
as $$
declare
  said constant text := memory._with_blanks(p_content);
  -- Thai and Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  unspaced constant text := e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff'
    || e'\\uac00-\\ud7af\\uf900-\\ufaff]';
  name constant text := e'[[:lower:],] [[:upper:]][[:lower:]]{1,6}\\M';
  emoji constant text := '[' || memory._emoji() || ']';
  language regconfig;
  vector tsvector;
  part tsvector;
  further tsvector[] := array[]::tsvector[];
begin
  vector := to_tsvector(p_prior, said);
  language := memory._language_of(said, p_prior, vector);
  -- The function ends here for nearly all texts. The conditions are one expression, because a session takes 0.1 ms to
  -- prepare an expression.
  if (language <> p_prior or said ~ '[[:alnum:]_][./:@=][[:alnum:]_]' or said ~ name or vector = ''
      or octet_length(said) > length(said) and said ~ (emoji || '|' || unspaced)) is not true then
    return vector;
  end if;
  if language <> p_prior then
    vector := to_tsvector(language, said);
    further := array[ts_delete(
      to_tsvector(p_prior, array_to_string(array(
        select v.lexeme from unnest(to_tsvector('simple', said)) as v
        where to_tsvector(language, v.lexeme) <> ''), ' ')),
      tsvector_to_array(vector))];
  end if;
  if vector = '' then
    further := further || to_tsvector('simple', said);
  elsif said ~ name then
    further := further || array_to_tsvector(array(
      select distinct lower(w)
      from regexp_matches(said, '[[:lower:],] ((?:[[:upper:]][[:lower:]]{1,6} ?)+)', 'g') as n
      cross join lateral string_to_table(rtrim(n[1]), ' ') as w
      where to_tsvector(language, w) = ''));
  end if;
  if said ~ '[[:alnum:]_][./:@=][[:alnum:]_]' then
    further := further || to_tsvector(language, coalesce((
      select string_agg(translate(c[1], './:@=_', '      '), ' ')
      from regexp_matches(said, '([[:alnum:]_-]+(?:[./:@=]+[[:alnum:]_-]+)+)', 'g') as c), ''));
  end if;
  if octet_length(said) > length(said) then
    if said ~ emoji then
      further := further || array_to_tsvector(array(
        select distinct e[1] from regexp_matches(said, e'[\U0001f1e6-\U0001f1ff]{2}|' || emoji, 'g') as e));
    end if;
    if said ~ unspaced then
      further := further || to_tsvector('simple', coalesce((
        select string_agg(p.letter || ' ' || p.letter || p.next, ' ')
        from (select c.letter, lead(c.letter, 1, '') over (partition by r.run order by c.place) as next
              from regexp_matches(said, '(' || unspaced || '+)', 'g') with ordinality as r (letters, run)
              cross join lateral string_to_table(r.letters[1], null) with ordinality as c (letter, place)) as p), ''));
    end if;
  end if;
  foreach part in array further loop
    vector := case when pg_column_size(vector) + pg_column_size(part) < 1048576 then vector || part else vector end;
  end loop;
  return vector;
end;
$$;

-- The emoji, as a part of a character class of a regular expression. Tones of skin and joiners are left out, because
-- they are no emoji by themselves.
create or replace function memory._emoji()
returns text
language sql immutable parallel safe
begin atomic
  select e'\u2600-\u27bf\u2b05-\u2b55\U0001f1e6-\U0001f1ff\U0001f300-\U0001f3fa\U0001f400-\U0001faff';
end;

-- A text in lower case without accents, so that "Jose" finds "José" and "Zurich" finds "Zürich".
create or replace function memory._folded(p_said text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if octet_length(p_said) > length(p_said)
      and p_said ~ e'[\u00c0-\u024f\u0300-\u036f\u0386-\u03ce\u0400-\u040e\u0439\u0450-\u045f\u1e00-\u1fff]' then
    return normalize(regexp_replace(normalize(
      replace(replace(replace(translate(p_said, 'øđðłı', 'oddli'), 'ß', 'ss'), 'æ', 'ae'), 'œ', 'oe'),
      NFD), e'[\u0300-\u036f]', '', 'g'), NFC);
  end if;
  return p_said;
end;
$$;

-- Words without accents. The dictionary must read the words before, as endings and stop words have accents ("für",
-- "mangé").
create or replace function memory._folded_vector(p_words tsvector)
returns tsvector
language plpgsql immutable parallel safe
as $$
declare
  said constant text := p_words;
  folded constant text := memory._folded(said);
begin
  return case when folded = said or octet_length(folded) > octet_length(said) then p_words else folded::tsvector end;
end;
$$;

-- Puts a blank after every 250 characters of a text that have none between them. PostgreSQL's parser takes quadratic
-- time for a long text without blanks: 8 s for 40,000 characters of a_a_a_.
create or replace function memory._with_blanks(p_said text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if octet_length(p_said) > 1000 and p_said ~ e'\\S{250}' then
    return regexp_replace(p_said, e'(\\S{250})', e'\\1 ', 'g');
  end if;
  return p_said;
end;
$$;

-- The words of a query and their synonyms, at most p_limit, in the order of the query. The result has each word in two
-- forms: as texts in the query's own language have it, and as texts in p_languages (the languages of the user's
-- policies and texts) have it. The function leaves out stop words of the query's language, emoji, words that consist of
-- the commonest Chinese characters only, and single letters of Hiragana. If a query of up to three words would lose all
-- of them ("the who"), it keeps them.
create or replace function memory._query_words(p_languages regconfig[], p_query text, p_limit int)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  said constant text := memory._with_same_words(memory._with_blanks(left(p_query, 8000)));
  empty constant text := '^([的了是我你他她它们在有和不也都吗呢吧啊什么怎哪这那个]+|[ぁ-ゖ]|['
    || memory._emoji() || ']+)$';
  own constant regconfig := memory._language_of(
    said, p_languages[1], to_tsvector(p_languages[1], said));
  words text[];
begin
  if cardinality(p_languages) = 1 and own = p_languages[1] then
    words := array(
      select f.word
      from (select memory._folded(v.lexeme) as word, v.lexeme, v.positions[1] as place
            from unnest(memory._words_as_said(own, said)) as v
            where v.lexeme !~ empty and to_tsvector(own, said) <> '') as f
      where f.word = f.lexeme or to_tsvector(own, f.word) <> '' -- such as "à"
      group by f.word
      order by min(f.place), f.word limit p_limit);
  else
    words := array(
      select memory._folded(l.lexeme) as word
      from (
        select v.lexeme, min(v.positions[1]) as place
        from unnest(memory._words_as_said('simple', said)) as v
        where v.lexeme !~ empty and to_tsvector(own, v.lexeme) <> ''
          and to_tsvector(own, memory._folded(v.lexeme)) <> ''
        group by v.lexeme) as w
      cross join lateral unnest(case
        when memory._language_of_script(w.lexeme) is not null then array[memory._language_of_script(w.lexeme)]
        when own = any (p_languages) then p_languages else p_languages || own end) as k
      cross join lateral unnest(tsvector_to_array(to_tsvector(k, w.lexeme))) as l (lexeme)
      where strpos(w.lexeme, '-') = 0 or strpos(l.lexeme, '-') > 0 -- a compound's parts are among the words already
      group by word
      order by min(w.place), word limit p_limit);
  end if;
  if words = '{}' then
    words := array(select v.lexeme from unnest(memory._text_vector('simple', said)) as v limit 4);
    return case when cardinality(words) <= 3 then words[:p_limit] else '{}' end;
  end if;
  return words;
end;
$$;

-- The beginning of a word in a text: the word's stem without the last letter, because a stem may differ from its word
-- in that letter (city, cities: citi).
create or replace function memory._beginning(p_word text)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_word ~ '...[[:alpha:]]$' then left(p_word, -1) else p_word end;
end;

-- The beginnings of the eight longest words of the query. A search looks for these beginnings in messages that it does
-- not parse as a whole.
create or replace function memory._beginnings(p_words text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select memory._beginning(u.word)
    from unnest(p_words) as u (word)
    order by length(u.word) desc, u.word limit 8);
end;
$$;

-- The number of these word beginnings that occur in a text. The expression names each beginning, because counting rows
-- of unnest() takes twice as long.
create or replace function memory._words_that_begin(p_said text, p_beginnings text[])
returns int
language sql immutable parallel safe
begin atomic
  select num_nonnulls(
    nullif(strpos(p_said, p_beginnings[1]), 0), nullif(strpos(p_said, p_beginnings[2]), 0),
    nullif(strpos(p_said, p_beginnings[3]), 0), nullif(strpos(p_said, p_beginnings[4]), 0),
    nullif(strpos(p_said, p_beginnings[5]), 0), nullif(strpos(p_said, p_beginnings[6]), 0),
    nullif(strpos(p_said, p_beginnings[7]), 0), nullif(strpos(p_said, p_beginnings[8]), 0));
end;
