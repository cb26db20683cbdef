-- The words that a keyword search finds a text by: those of the text search configuration, the parts of compounds that
-- PostgreSQL's parser keeps whole (node.js, src/app.py, ana@example.org), and for scripts without spaces between words
-- each character and each pair of neighbours. A tsvector holds 1 MiB, into which the words of 256 KiB of text fit; when
-- the other two sets of words do not fit as well, they are left out.
create or replace function memory._text_vector(p_language regconfig, p_content text)
returns tsvector
language plpgsql immutable parallel safe
set client_min_messages = warning -- PostgreSQL leaves out words of more than 2,046 bytes with a NOTICE for each
as $$
declare
  said text := left(p_content,
    case when octet_length(left(p_content, 262144)) <= 262144 then 262144 else 65536 end);
  -- Thai and Lao, Burmese, Khmer, Japanese, Chinese, Korean.
  unspaced constant text := e'[\\u0e00-\\u0eff\\u1000-\\u109f\\u1780-\\u17ff\\u3040-\\u30ff\\u3400-\\u9fff'
    || e'\\uac00-\\ud7af\\uf900-\\ufaff]';
  vector tsvector;
begin
  -- PostgreSQL's parser takes quadratic time for a long text without blanks: 8 s for 40,000 characters of a_a_a_.
  if octet_length(said) > 1000 and said ~ e'\\S{250}' then
    said := regexp_replace(said, e'(\\S{250})', e'\\1 ', 'g');
  end if;
  vector := to_tsvector(p_language, said);
  if said ~ '[[:alnum:]_][./:@=][[:alnum:]_]' then
    vector := memory._with_more_words(vector, to_tsvector(p_language, coalesce((
      select string_agg(translate(c[1], './:@=_', '      '), ' ')
      from regexp_matches(left(said, 65536), '([[:alnum:]_-]+(?:[./:@=]+[[:alnum:]_-]+)+)', 'g') as c), '')));
  end if;
  if octet_length(said) > length(said) and said ~ unspaced then
    vector := memory._with_more_words(vector, to_tsvector('simple', coalesce((
      select string_agg(p.letter || ' ' || p.letter || p.next, ' ')
      from (select c.letter, lead(c.letter, 1, '') over (partition by r.run order by c.place) as next
            from regexp_matches(left(said, 32768), '(' || unspaced || '+)', 'g') with ordinality as r (letters, run)
            cross join lateral string_to_table(r.letters[1], null) with ordinality as c (letter, place)) as p), '')));
  end if;
  return vector;
end;
$$;

-- The words of a query, at most p_limit, in its order: as texts of each of these languages have them, because a user's
-- texts may be in several. A word that is a stop word of one of them says nothing in the others.
create or replace function memory._query_words(p_languages regconfig[], p_query text, p_limit int)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  said constant text := left(p_query, 8000);
begin
  if cardinality(p_languages) = 1 then
    return array(
      select v.lexeme from unnest(memory._text_vector(p_languages[1], said)) as v
      order by v.positions[1], v.lexeme limit p_limit);
  end if;
  return array(
    select l.lexeme
    from unnest(memory._text_vector('simple', said)) as v
    cross join lateral (
      select array_agg(to_tsvector(k, v.lexeme)) as vectors from unnest(p_languages) as k) as t
    cross join lateral (select unnest(tsvector_to_array(x)) as lexeme from unnest(t.vectors) as x) as l
    where '' <> all (t.vectors)
    group by l.lexeme
    order by min(v.positions[1]), l.lexeme limit p_limit);
end;
$$;

-- Both sets of words, or the first alone when they do not fit into one tsvector.
create or replace function memory._with_more_words(p_vector tsvector, p_more tsvector)
returns tsvector
language plpgsql immutable parallel safe
as $$
begin
  return case
    when pg_column_size(p_vector) + pg_column_size(p_more) < 1048576 then p_vector || p_more
    else p_vector
  end;
end;
$$;
