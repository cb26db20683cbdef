-- The formulas of ranking, which ranking.sql and memory_ranking.sql share. Inlined by the planner, hence no SET
-- clauses.

-- How much a word says that so many of the texts have, as in BM25 (Robertson and Zaragoza, 2009). 1 is added to the
-- number of texts, so that no word counts against a text.
create or replace function memory._idf(p_texts bigint, p_texts_with_word bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select ln((p_texts + 1) / (p_texts_with_word + 0.5)::double precision);
end;

-- How much a text says about one word that it has. Its length counts by the logarithm, which saturates as BM25 does and
-- ranks as well, in a tenth of the time of counting words.
create or replace function memory._word_weight(p_text tsvector, p_word tsquery)
returns double precision
language sql immutable parallel safe
begin atomic
  select ts_rank('{1,1,1,1}', p_text, p_word, 1)::double precision;
end;

-- The idf of all words of a query: that of the words that some text has, and that of those that no text has. The latter
-- count too, because a text with half of the query's words is no perfect match.
create or replace function memory._query_idf(p_idf_of_found double precision, p_words_not_found bigint, p_texts bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select p_idf_of_found + p_words_not_found * memory._idf(p_texts, 0);
end;

-- What the keyword scores of a search are multiplied by, where p_share is the share of the query's words, by idf, that
-- the best text has. Under two thirds all scores are lowered: the best of bad matches is not a good match.
create or replace function memory._trust(p_share double precision)
returns double precision
language sql immutable parallel safe
begin atomic
  select least(1, 1.5 * p_share);
end;

-- How fresh a memory is that has been known since then: 1, halved every 30 days down to 2^-100 after eight years, below
-- which it would soon be no real any more. A memory that has held for ever (-infinity) is not fresh at all.
create or replace function memory._recency(p_known_since timestamptz)
returns double precision
language sql stable parallel safe
begin atomic
  select case
    when p_known_since >= statement_timestamp() then 1
    when isfinite(p_known_since) then power(0.5::double precision,
      least(date_part('epoch', statement_timestamp() - p_known_since) / (30 * 86400), 100))
    else 0 end;
end;

-- Both arms on a scale from 0 to 1, half each. The scale of similarities spans at least 0.3, because among a handful of
-- texts a tiny difference in similarity decides nothing. A text without an embedding, because it was stored just now or
-- never gets one, is judged by its words alone.
create or replace function memory._fused_score(
  p_similarity double precision, p_highest double precision, p_lowest double precision, p_keyword double precision,
  p_arms int
)
returns double precision
language sql immutable parallel safe
begin atomic
  select (coalesce(greatest(1 - (p_highest - p_similarity) / greatest(p_highest - p_lowest, 0.3), 0), 0)
          + coalesce(p_keyword, 0))
    / case when p_similarity is null then 1 else p_arms end;
end;
