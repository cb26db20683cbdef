-- The formulas of ranking. Inlined by the planner, hence no SET clauses.

-- How much a word says that is in so many of the texts, as in BM25 (Robertson and Zaragoza, 2009, with 1 added so that no word counts against a text).
create or replace function memory._idf(p_texts bigint, p_texts_with_word bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select ln((p_texts + 1) / (p_texts_with_word + 0.5)::double precision);
end;

-- How fresh something is that has been known since then: halves in 30 days, from 1 down to 2^-100 after eight years,
-- below which it would soon be no real any more. What has held for ever (-infinity) is not fresh at all.
create or replace function memory._recency(p_known_since timestamptz)
returns double precision
language sql stable parallel safe
begin atomic
  select case when p_known_since >= statement_timestamp() then 1
              when isfinite(p_known_since)
              then power(0.5::double precision, least(date_part('epoch',
                statement_timestamp() - p_known_since) / (30 * 86400), 100))
              else 0 end;
end;

-- Both arms on a scale from 0 to 1, half each. In a handful of texts a hair's breadth of similarity is no verdict, so the scale of
-- similarities spans 0.3 at least. What has no embedding, because it was stored just now or never gets one, is judged by its words alone.
create or replace function memory._fused_score(p_similarity double precision, p_highest double precision, p_lowest double precision, p_keyword double precision, p_arms int)
returns double precision
language sql immutable parallel safe
begin atomic
  select (coalesce(greatest(1 - (p_highest - p_similarity) / greatest(p_highest - p_lowest, 0.3), 0), 0) + coalesce(p_keyword, 0))
    / case when p_similarity is null then 1 else p_arms end;
end;
