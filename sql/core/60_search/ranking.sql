-- needs pgvector on the search_path

-- The ranking of a search: one score for the texts of all sources and spaces.
--
-- The score of a text is a logistic function of a handful of features (scored_texts.sql and judged_texts.sql). Its
-- weights are data, weights.json, fitted by python -m bench.quality.fit on marked evidence (recall@10 of LoCoMo 80.4 %,
-- of months of work 88.1 %), but for those of memory, summary and use, of which such evidence tells nothing. In a
-- search by meaning alone the score is the cosine similarity; with policy search.fusion rrf it is the sum of reciprocal
-- ranks by meaning and by words. A text is a candidate by any word of the query, or by its embedding, which is
-- compared exactly.
--
-- The texts of spaces are candidates beside those of the user, and what the query's words tell is counted over all of
-- them, so that there is one ranking.
--
-- The steps: the candidates (candidates.sql, unread_candidates.sql, and for users with very many texts preselected.sql
-- and nearest_memories.sql), their scores (scored_texts.sql), and, where texts are found by words, the features of the
-- best for which other tables are read (judged_texts.sql).
create or replace function memory._ranked(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters default null,
  p_min_score double precision default null, p_explain boolean default false, p_spaces text[] default null,
  p_agent_of_spaces text default null, p_min_relevance real default null
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
-- These settings force hash joins. Without statistics the planner expects one candidate instead of a thousand and would
-- compare all pairs; with statistics the planner sorts ids, which takes twenty times as long.
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  fusion constant text := case
    when p_mode <> 'hybrid' then p_mode
    when p_query is null then 'vector'
    when p_settings ->> 'fusion' = 'rrf' then 'rrf'
    else 'score' end;
  unfiltered constant boolean := p_filters is null; -- also true for a row of nulls
  -- Only memories pass some filters, only documents others.
  sources constant text[] := array(
    select s.source
    from unnest(p_sources) as s (source)
    where (s.source = 'memory' or num_nonnulls(
             p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.min_confidence) = 0)
      and (s.source = 'document' or num_nonnulls(p_filters.doc_types, p_filters.namespaces) = 0));
  is_judged constant boolean := fusion in ('score', 'keyword');
  beside_messages constant boolean := 'message' = any (sources)
    and exists (select from memory.messages as m where m.user_id = p_user_id);
  use_weight constant double precision := memory._share(p_settings ->> 'use_weight');
  needs_ranks constant boolean := p_explain or fusion = 'rrf';
  -- The texts of which the last features are looked up. They change the order, so these are more than are returned.
  pool constant int := case
    when is_judged and (beside_messages or use_weight > 0) then greatest(200, 150 + 2 * p_row_limit)
    when is_judged then greatest(100, 2 * p_row_limit)
    else p_row_limit end;
  language constant regconfig := (p_settings ->> 'language')::regconfig;
  nothing_below constant double precision := memory._nothing_below(p_model);
  preselect_above constant int := (p_settings ->> 'preselect_above')::int;
  nearest memory._candidate[];
  -- The messages of a user with very many messages that enter the ranking. All texts of other sources enter it.
  preselected memory._preselected;
  candidates record; -- of memory._candidates()
  of_spaces text[]; -- the sources that are searched in spaces
  scored memory._scored[];
  words text[];
  any_word tsquery;
begin
  if p_mode <> 'vector' then
    -- A query may be a whole message. Two hundred words are enough to say its subject.
    words := nullif(memory._query_words(
      memory._languages(p_user_id, p_agent_id, p_settings ->> 'language', p_query), p_query, 200), '{}');
    any_word := (select string_agg(quote_literal(w), ' | ')::tsquery from unnest(words) as w);
  end if;

  -- The approximate index. Comparing all memories is as fast for more than 100 results, and for a user with less than a
  -- fiftieth of the index: the scan then passes 50 memories of other users for each memory that it finds.
  if unfiltered and fusion = 'vector' and 'memory' = any (sources) and p_row_limit <= 100 and p_spaces is null then
    nearest := case
      when not exists (select from memory.embeddings as e where e.user_id = p_user_id and e.model = p_model)
        and (select sum(s.memory_count) from memory.memory_scopes as s where s.user_id = p_user_id)
             > greatest((p_settings ->> 'approximate_above')::bigint,
                 (select c.reltuples / 50 from pg_class as c where c.oid = memory._vector_index(p_model)))
        and exists (select from pg_index as i where i.indexrelid = memory._vector_index(p_model) and i.indisvalid)
      then memory._nearest_among_memories(p_user_id, p_agent_id, p_model, p_target, p_row_limit) end;
    if cardinality(nearest) < p_row_limit then
      nearest := null; -- the index has found too few memories of this user
    end if;
  end if;

  if beside_messages and preselect_above < (
    select count(*) from (
      select from memory.texts as t
      where t.user_id = p_user_id and t.source = 'message' limit preselect_above + 1) as t) then
    preselected := memory._preselected(
      p_user_id, p_agent_id, words, p_model, p_target, fusion, preselect_above, p_row_limit, p_filters);
  end if;
  select c.* into candidates
  from memory._candidates(
    p_user_id, p_agent_id, case when nearest is null then sources else array_remove(sources, 'memory') end, p_filters,
    words, any_word, language, p_model, case when p_mode <> 'keyword' then p_target end, preselected,
    case when needs_ranks then sources
         else '{document,artifact}' || case when is_judged then '{message}'::text[] end end,
    pool) as c;
  candidates.chosen := candidates.chosen || nearest;
  if p_spaces is not null then
    -- Of a space a search reads memories and documents, as far as they can pass the filters. A thread_id is that of a
    -- thread of the user, so nothing of a space passes it.
    of_spaces := array(
      select s.source from unnest(p_sources) as s (source)
      where p_filters.thread_id is null and case s.source
        when 'memory' then num_nonnulls(p_filters.doc_types, p_filters.namespaces) = 0
        when 'document' then num_nonnulls(
          p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.min_confidence) = 0
        else false end);
    -- One statement for all spaces: to append to the candidates again and again takes time by the square of the spaces.
    with of_each as materialized (
      select s.space, c.*
      from unnest(p_spaces) as s (space)
      cross join lateral memory._candidates(
        s.space, p_agent_of_spaces, of_spaces, jsonb_populate_record(p_filters, '{"exclude_thread_id": null}'),
        words, any_word, language, p_model, case when p_mode <> 'keyword' then p_target end, null,
        case when needs_ranks then of_spaces else '{document}' end, pool) as c
    )
    select array(
        -- The candidates in their order; memories and documents with the user_id of their space as thread_id.
        select row(c.source, c.id, case when c.source in ('memory', 'document') then a.space else c.thread_id end,
                   c.number, c.created_at, c.similarity, c.vector, c.lexemes)::memory._candidate
        from (select null as space, candidates.chosen, 0 as place
              union all
              select o.space, o.chosen, row_number() over () from of_each as o) as a
        cross join lateral unnest(a.chosen) with ordinality
          as c (source, id, thread_id, number, created_at, similarity, vector, lexemes, place)
        order by a.place, c.place) as chosen,
      candidates.texts + sum(o.texts)::bigint as texts, greatest(candidates.highest, max(o.highest)) as highest,
      least(candidates.lowest, min(o.lowest)) as lowest
    into candidates
    from of_each as o;
  end if;
  scored := memory._scored_texts(
    candidates.chosen, words, preselected.frequencies, candidates.texts, candidates.highest, candidates.lowest, fusion,
    (p_settings ->> 'rrf_k')::int, needs_ranks, beside_messages, nothing_below, p_min_relevance, pool);
  if is_judged then
    scored := memory._judged_texts(p_user_id, p_query, scored, any_word, language,
                                   use_weight, p_spaces is not null, p_row_limit);
  end if;
  return query
  select row_number() over best_first, s.source, s.id, s.thread_id, s.number, s.created_at, memory._real(s.score),
    case when p_explain then memory._explanation(s, fusion, p_model, beside_messages, nearest is not null) end,
    s.relevance
  from unnest(scored) as s
  where p_min_score is null or memory._real(s.score) >= memory._real(p_min_score)
  window best_first as (order by s.score desc, s.created_at desc, s.id collate "C")
  limit p_row_limit;
end;
$$;
