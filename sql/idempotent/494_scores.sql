-- The formulas of ranking. Inlined by the planner, hence no SET clauses.

-- How much a word says that is in so many of the texts, as in BM25 (Robertson and Zaragoza, 2009, with 1 added so that no word counts against a text).
create or replace function memory._idf(texts bigint, texts_with_word bigint)
returns double precision
language sql immutable parallel safe
begin atomic
  select ln((texts + 1) / (texts_with_word + 0.5)::double precision);
end;

-- Both arms on a scale from 0 to 1, half each. In a handful of texts a hair's breadth of similarity is no verdict, so the scale of
-- similarities spans 0.3 at least. What has no embedding, because it was stored just now or never gets one, is judged by its words alone.
create or replace function memory._fused_score(similarity double precision, highest double precision, lowest double precision, keyword double precision, arms int)
returns double precision
language sql immutable parallel safe
begin atomic
  select (coalesce(greatest(1 - (highest - similarity) / greatest(highest - lowest, 0.3), 0), 0) + coalesce(keyword, 0))
    / case when similarity is null then 1 else arms end;
end;
