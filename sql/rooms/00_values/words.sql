-- The words by which a keyword search finds a text. The result has the words by the dictionary of the text's own
-- language. If that is not the language of the policy (p_prior), the result also has the words by the policy's
-- dictionary, by which queries find names. It has the parts of compounds that PostgreSQL's parser keeps whole (node.js,
-- src/app.py, ana@example.org). For scripts without spaces between words it has each character and each pair of
-- neighbours. A tsvector holds 1 MiB, enough for the words of 256 KiB of text; the function leaves out a further set of
-- words that does not fit.
create or replace function memory._text_vector(p_prior regconfig, p_content text)
returns tsvector
language plpgsql immutable parallel safe
set client_min_messages = warning -- PostgreSQL leaves out each word of more than 2,046 bytes with a NOTICE
as $$
declare
  said constant text := memory._with_blanks(case
    when octet_length(p_content) <= 262144 then p_content
    else left(p_content, case when octet_length(left(p_content, 262144)) <= 262144 then 262144 else 65536 end) end);
  -- Thai and Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  unspaced constant text := e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff'
    || e'\\uac00-\\ud7af\\uf900-\\ufaff]';
  language regconfig;
  vector tsvector;
  part tsvector;
  further tsvector[];
begin
  vector := to_tsvector(p_prior, said);
  language := memory._language_of(said, p_prior, vector);
  -- For nearly all texts the function ends here, after one expression: a session takes 0.1 ms to prepare each.
  if (language <> p_prior or said ~ '[[:alnum:]_][./:@=][[:alnum:]_]'
      or octet_length(said) > length(said) and said ~ unspaced) is not true then
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
  if said ~ '[[:alnum:]_][./:@=][[:alnum:]_]' then
    further := further || to_tsvector(language, coalesce((
      select string_agg(translate(c[1], './:@=_', '      '), ' ')
      from regexp_matches(left(said, 65536), '([[:alnum:]_-]+(?:[./:@=]+[[:alnum:]_-]+)+)', 'g') as c), ''));
  end if;
  if octet_length(said) > length(said) and said ~ unspaced then
    further := further || to_tsvector('simple', coalesce((
      select string_agg(p.letter || ' ' || p.letter || p.next, ' ')
      from (select c.letter, lead(c.letter, 1, '') over (partition by r.run order by c.place) as next
            from regexp_matches(left(said, 32768), '(' || unspaced || '+)', 'g') with ordinality as r (letters, run)
            cross join lateral string_to_table(r.letters[1], null) with ordinality as c (letter, place)) as p), ''));
  end if;
  foreach part in array further loop
    vector := case when pg_column_size(vector) + pg_column_size(part) < 1048576 then vector || part else vector end;
  end loop;
  return vector;
end;
$$;

-- A text with a blank after every 250 characters that have none. PostgreSQL's parser takes quadratic time for a long
-- text without blanks: 8 s for 40,000 characters of a_a_a_.
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

-- The words of a query and their synonyms, at most p_limit, in the order of the query. The result has each word as
-- texts in the query's own language have it, and as texts in p_languages (the languages of the user's policies) have
-- it. The function leaves out a word that is a stop word in one of these languages, a word of only the commonest
-- Chinese characters, and a single letter of Hiragana.
create or replace function memory._query_words(p_languages regconfig[], p_query text, p_limit int)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  said constant text := memory._with_same_words(memory._with_blanks(left(p_query, 8000)));
  empty constant text := '^([的了是我你他她它们在有和不也都吗呢吧啊什么怎哪这那个]+|[ぁ-ゖ])$';
  own constant regconfig := memory._language_of(
    said, p_languages[1], to_tsvector(p_languages[1], said));
begin
  if cardinality(p_languages) = 1 and own = p_languages[1] then
    return array(
      select v.lexeme from unnest(memory._text_vector(own, said)) as v
      where v.lexeme !~ empty
      order by v.positions[1], v.lexeme limit p_limit);
  end if;
  return array(
    select l.lexeme
    from (
      select v.lexeme, min(v.positions[1]) as place
      from unnest(memory._text_vector('simple', said)) as v
      where v.lexeme !~ empty
      group by v.lexeme) as w
    cross join lateral (
      select array_agg(to_tsvector(k, w.lexeme)) as vectors
      from unnest(case when own = any (p_languages) then p_languages else p_languages || own end) as k) as t
    cross join lateral (select unnest(tsvector_to_array(x)) as lexeme from unnest(t.vectors) as x) as l
    where '' <> all (t.vectors)
    group by l.lexeme
    order by min(w.place), l.lexeme limit p_limit);
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
