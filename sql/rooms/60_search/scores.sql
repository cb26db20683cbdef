-- The formulas of ranking, which scored_texts.sql and memory_ranking.sql share.

-- The weight of a word that p_texts_with_word of p_texts have: the idf of BM25 (Robertson and Zaragoza, 2009). The
-- formula adds 1 to the number of texts, so that a word in every text does not lower the scores.
create or replace function memory._idf(p_texts bigint, p_texts_with_word bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select ln((p_texts + 1) / (p_texts_with_word + 0.5)::double precision);
end;

-- The weight of a word within a text. ts_rank() divides by the logarithm of the text's length. This weight saturates
-- like BM25 and ranks as well, in a tenth of the time of counting words.
create or replace function memory._word_weight(p_text tsvector, p_word tsquery)
returns double precision
language sql immutable parallel safe
begin atomic
  select ts_rank('{1,1,1,1}', p_text, p_word, 1)::double precision;
end;

-- The idf of all words of a query: of the words that some text has, and of the words that no text has. The missing
-- words count too, because a text with half of the query's words is not a perfect match.
create or replace function memory._query_idf(p_idf_of_found double precision, p_words_not_found bigint, p_texts bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select p_idf_of_found + p_words_not_found * memory._idf(p_texts, 0);
end;

-- The factor of all keyword scores of a search. p_share is the share of the query's words, by idf, that the best text
-- has. If p_share is under two thirds, the factor is below 1, because the best of bad matches is not a good match.
create or replace function memory._trust(p_share double precision)
returns double precision
language sql immutable parallel safe
begin atomic
  select least(1, 1.5 * p_share);
end;

-- The recency of a memory: 1, halved every 30 days, but at least 2^-100 (after eight years), because a real cannot hold
-- much smaller values. The recency of a memory that has held for ever (-infinity) is 0.
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

-- The weight of the keyword arm; the weight of the similarity arm is 1. The weight is the distance of the best text's
-- score (p_best) from the mean of all p_texts in standard deviations, divided by 5, and at least 0.5 and at most 2. So
-- words count for little where every text has most of them, as with long replies about one subject, and for much where
-- few texts have them. Compared with a weight of 1, the share of evidence among the first ten results is 1.3 points
-- higher for ten conversations stored for one user (5,882 turns), 0.6 to 0.9 points higher among long replies to short
-- messages, and the same for each conversation alone. p_mean and p_variance are the mean and the variance that the
-- scores of texts would have if the words of the query occurred independently of each other. Under 50 texts these
-- values say nothing, and the weight is 1.
create or replace function memory._keyword_weight(
  p_best double precision, p_mean double precision, p_variance double precision, p_texts bigint
)
returns double precision
language sql immutable parallel safe
begin atomic
  select case
    when p_texts >= 50 and p_variance > 0 then least(greatest((p_best - p_mean) / sqrt(p_variance) / 5, 0.5), 2)
    else 1 end;
end;

-- The weighted mean of the two arms, similarity and keywords, each scaled to 0..1. The scale of similarities spans at
-- least 0.3, so that a tiny difference among a handful of texts decides nothing. A text without an embedding gets the
-- score of its words alone. With p_arms 1 only one arm has found texts.
create or replace function memory._fused_score(
  p_similarity double precision, p_highest double precision, p_lowest double precision, p_keyword double precision,
  p_keyword_weight double precision, p_arms int
)
returns double precision
language sql immutable parallel safe
begin atomic
  select (coalesce(greatest(1 - (p_highest - p_similarity) / greatest(p_highest - p_lowest, 0.3), 0), 0)
          + coalesce(p_keyword, 0) * case when p_similarity is null or p_arms = 1 then 1 else p_keyword_weight end)
    / case when p_similarity is null or p_arms = 1 then 1 else 1 + p_keyword_weight end;
end;
