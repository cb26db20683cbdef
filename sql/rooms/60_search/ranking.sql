-- needs pgvector on the search_path

-- The ranking of a search. All figures come from conversations with marked evidence (bench/results/quality.md).
--
-- Keywords: a text matches if it has any word of the query. The weight of a text is the sum over its matched words of
-- idf (as in BM25) times memory._word_weight(). The statement counts how many texts have a word among the texts that
-- this search may see. So the scores say nothing about the texts of other users, and no statistics need maintenance.
-- Meaning: the exact cosine similarity with every candidate, without an index. Both: the statement scales each of the
-- two scores (the arms) to 0..1 within the query and adds them by weight (score), or adds reciprocal ranks (rrf).
--
-- The messages around a message often tell what it means. So a word of the two messages before and after counts for the
-- message, too, with 0.6 or 0.4 of its weight, unless most texts have the word. And the message gains from its better
-- neighbour in the thread. Then the last step orders the 200 best texts anew. It multiplies the score of a message by
-- 0.8 if the query names a speaker and another speaker with a name has said the message; by 0.85 if the query names
-- days and the message is of another day; and by 0.9 if an assistant without a name has said the message, because the
-- answer more often stands in the person's own words. If the query asks for the assistant's words
-- (asks_the_assistant.sql), messages of a person without a name get the factor 0.9 instead. At last the newest of
-- several statements of a figure gains (newer_figures.sql). Recall@10 of 1,536 questions about ten conversations of two
-- people: 71.7 % with the best neighbour alone, 75.8 % with the words around added, 78.3 % with speakers, 79.0 % with
-- days. With replies of 577 words recall@10 rises from 64.4 to 69.0 %, and where nobody has a name from 56.7 to 63.0 %
-- (504 questions).
--
-- The texts of spaces are candidates beside those of the user, and what the query's words tell is counted over all of
-- them, so that there is one ranking.
--
-- A search for meaning alone may take the approximate index (nearest_memories.sql), and a search among memories alone
-- has a way of its own (memory_ranking.sql). Any other search takes these steps, each with statements of its own, so
-- that a session plans only those that it needs: the candidates of each source (candidates.sql), the words of those
-- that are not parsed yet (unparsed_messages.sql), their scores (scored_texts.sql), and, where messages are found by
-- words, the last order (judged_texts.sql).
create or replace function memory._ranked(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters default null,
  p_min_score double precision default null, p_explain boolean default false, p_spaces text[] default null,
  p_agent_of_spaces text default null
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
set jit = off
-- These settings force hash joins. Without statistics the planner expects one candidate instead of a thousand and would
-- compare all pairs; with statistics the planner sorts ids, which takes twenty times as long.
set enable_nestloop = off
set enable_mergejoin = off
set enable_seqscan = off -- With few users on a server, one plan for all users would read the rows of all users.
set enable_bitmapscan = off -- Rows are read in the order of ids, that is of time: 2 % faster, from disk 10 to 20 %.
set max_parallel_workers_per_gather = 0 -- Disabled nodes raise the cost so much that workers would get 0.6 ms of work.
set plan_cache_mode = force_generic_plan -- Planning takes three times as long as running.
as $$
declare
  fusion constant text := case
    when p_mode <> 'hybrid' then p_mode
    when p_query is null then 'vector'
    when p_settings ->> 'fusion' = 'rrf' then 'rrf'
    else 'score' end;
  unfiltered constant boolean := p_filters is null; -- also true for a row of nulls
  -- Only the sources in which the user has texts that can pass the filters: only memories pass some filters, only
  -- documents others. Reading an empty source takes a tenth of the time of a search.
  sources constant text[] := array(
    select s.source
    from unnest(p_sources) as s (source)
    where (s.source = 'memory' or num_nonnulls(
             p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.min_confidence) = 0)
      and (s.source = 'document' or num_nonnulls(p_filters.doc_types, p_filters.namespaces) = 0)
      and case s.source
        when 'document' then exists (select from memory.documents as d where d.user_id = p_user_id)
        when 'summary' then exists (select from memory.summaries as u where u.user_id = p_user_id)
        when 'message' then exists (select from memory.messages as m where m.user_id = p_user_id)
        when 'memory' then exists (select from memory.memories as m where m.user_id = p_user_id)
        else true end);
  is_talk constant boolean := 'message' = any (sources) and fusion in ('score', 'keyword');
  -- Beside messages the score of a summary is halved, so that a message comes before the summary that repeats it. With
  -- a summary of each session of four conversations of LoCoMo, recall@10 of the messages was 74.2 % with the whole
  -- score and 76.4 % with half of it. In a search by meaning alone the score stays whole, because it is a cosine.
  summary_weight constant double precision := case
    when 'message' = any (sources) and fusion <> 'vector' then 0.5 else 1 end;
  needs_ranks constant boolean := p_explain or fusion = 'rrf';
  -- The texts that enter the last step, in which neighbours, speakers and dates change the order.
  pool constant int := case when is_talk then greatest(200, 150 + p_row_limit) else p_row_limit end;
  preselect_above constant int := (p_settings ->> 'preselect_above')::int;
  nearest memory.ranking[];
  -- The messages of a user with very many messages that enter the ranking. All texts of other sources enter it.
  preselected memory._message_candidates;
  candidates record; -- of memory._candidates()
  of_spaces text[]; -- the sources that are searched in spaces
  scored memory._scored[];
  words text[];
  any_word tsquery;
begin
  if fusion <> 'vector' and 'memory' = any (sources) and (p_settings ->> 'use_weight')::double precision > 0 then
    return query
    select r.*
    from memory._ranked_by_use(p_user_id, p_agent_id, p_query, p_model, p_target, p_mode, p_settings, p_sources,
                               p_row_limit, p_filters, p_min_score, p_explain, p_spaces, p_agent_of_spaces) as r;
    return;
  end if;

  if p_mode <> 'vector' then
    -- A query may be a whole message. Two hundred words are enough to say its subject.
    words := nullif(memory._query_words(
      memory._languages(p_user_id, p_agent_id, p_settings ->> 'language'), p_query, 200), '{}');
    any_word := (select string_agg(quote_literal(w), ' | ')::tsquery from unnest(words) as w);
  end if;

  -- The approximate index. Comparing all memories is as fast for more than 100 results, and for a user with less than a
  -- fiftieth of the index: the scan then passes 50 memories of other users for each memory that it finds.
  if unfiltered and fusion = 'vector' and 'memory' = any (sources) and p_row_limit <= 100 and p_spaces is null then
    nearest := case
      when (select sum(s.memory_count) from memory.memory_scopes as s where s.user_id = p_user_id)
             > greatest((p_settings ->> 'approximate_above')::bigint,
                 (select c.reltuples / 50 from pg_class as c where c.oid = memory._vector_index(p_model)))
        and exists (select from pg_index as i where i.indexrelid = memory._vector_index(p_model) and i.indisvalid)
      then memory._nearest_among_memories(p_user_id, p_agent_id, p_model, p_target, p_row_limit, p_explain) end;
  end if;
  if cardinality(nearest) = p_row_limit then -- otherwise the index has found too few memories of this user
    return query
    select row_number() over best_first, r.source, r.id, r.thread_id, r.number, r.created_at, r.score,
      case when p_explain
        then jsonb_set(r.explanation, '{vector,rank}', to_jsonb(rank() over (order by r.score desc))) end
    from (
      select n.* from unnest(nearest) as n
      union all
      -- The results of the other sources: their scores are cosines, too.
      select o.*
      from memory._ranked(
        p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
        p_mode => p_mode, p_settings => p_settings, p_sources => array_remove(sources, 'memory'),
        p_row_limit => p_row_limit, p_explain => p_explain) as o
      where cardinality(sources) > 1
    ) as r
    where p_min_score is null or r.score >= memory._real(p_min_score)
    window best_first as (order by r.score desc, r.created_at desc, r.id)
    limit p_row_limit;
    return;
  end if;

  if p_filters is null and sources = '{memory}' and not needs_ranks and p_spaces is null then
    return query
    select r.*
    from memory._ranked_among_memories(
      p_user_id, p_agent_id, words, any_word, p_model, p_target, fusion, p_min_score, p_row_limit) as r;
    return;
  end if;

  -- The counters of the threads nearly always say whether the user has more messages than a search ranks.
  -- message_count leaves out compressed messages, so a thread may have more messages; next_seq counts deleted messages,
  -- so a thread may have fewer. The statement counts rows only if both counters leave the answer open.
  if 'message' = any (sources) and (
    select sum(t.message_count) > preselect_above
      or (sum(t.next_seq) > preselect_above or count(*) = 1000)
        and (select count(*) > preselect_above
             from (select from memory.messages as m where m.user_id = p_user_id limit preselect_above + 1) as m)
    from (select t.message_count, t.next_seq from memory.threads as t where t.user_id = p_user_id limit 1000) as t
  ) then
    preselected := memory._message_candidates(p_user_id, p_agent_id, words, p_model, p_target, fusion,
      preselect_above, p_row_limit, p_filters);
  end if;
  select c.* into candidates
  from memory._candidates(
    p_user_id, p_agent_id, sources, p_filters, any_word, p_model, case when p_mode <> 'keyword' then p_target end,
    preselected,
    case when needs_ranks then sources else '{document,artifact}' || case when is_talk then '{message}'::text[] end end,
    pool) as c;
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
        any_word, p_model, case when p_mode <> 'keyword' then p_target end, null,
        case when needs_ranks then of_spaces else '{document}' end, pool) as c
    )
    select array(
        -- The candidates in their order; memories and documents with the user_id of their space as thread_id.
        select row(c.source, c.id, case when c.source in ('memory', 'document') then a.space else c.thread_id end,
                   c.number, c.created_at, c.similarity, c.vector, c.content, c.metadata)::memory._candidate
        from (select null as space, candidates.chosen, 0 as place
              union all
              select o.space, o.chosen, row_number() over () from of_each as o) as a
        cross join lateral unnest(a.chosen) with ordinality
          as c (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
        order by a.place, c.place) as chosen,
      candidates.texts + sum(o.texts)::bigint as texts, greatest(candidates.highest, max(o.highest)) as highest,
      least(candidates.lowest, min(o.lowest)) as lowest, candidates.unparsed + sum(o.unparsed)::bigint as unparsed
    into candidates
    from of_each as o;
  end if;
  if candidates.unparsed > 0 then
    candidates.chosen := memory._with_words(candidates.chosen, words, any_word, (p_settings ->> 'language')::regconfig);
  end if;

  if fusion = 'vector' and not needs_ranks and not (sources || of_spaces) && '{document,artifact}' then
    return query
    select row_number() over (order by t.similarity desc, t.created_at desc, t.id), t.source, t.id, t.thread_id,
      t.number, t.created_at, memory._real(t.similarity), null::jsonb
    from (
      select f.source, f.id collate "C" as id, f.thread_id, f.number, f.created_at, f.similarity
      from unnest(candidates.chosen) as f
      where f.similarity is not null
        and (p_min_score is null or memory._real(f.similarity) >= memory._real(p_min_score))
      order by f.similarity desc, f.created_at desc, f.id collate "C" limit p_row_limit) as t;
    return;
  end if;

  scored := memory._scored_texts(
    candidates.chosen, words, preselected.frequencies, candidates.texts, candidates.highest, candidates.lowest,
    fusion, (p_settings ->> 'rrf_k')::int, p_explain, is_talk, summary_weight, pool);
  if is_talk then
    scored := memory._judged_texts(p_user_id, p_query, p_model, scored, any_word, fusion,
                                   (p_settings ->> 'language')::regconfig, p_row_limit);
  end if;
  return query
  select row_number() over best_first, s.source, s.id, s.thread_id, s.number, s.created_at, memory._real(s.result),
    case when p_explain then memory._explanation(s, fusion, p_model, summary_weight) end
  from unnest(scored) as s
  where p_min_score is null or memory._real(s.result) >= memory._real(p_min_score)
  window best_first as (order by s.result desc, s.created_at desc, s.id collate "C")
  limit p_row_limit;
end;
$$;

-- How a text came to its score, as memory.search() returns it with explain.
create or replace function memory._explanation(
  p_text memory._scored, p_fusion text, p_model text, p_summary_weight double precision
)
returns jsonb
language plpgsql immutable parallel safe
as $$
begin
  return jsonb_strip_nulls(jsonb_build_object(
    'vector', case when p_text.similarity is not null then jsonb_build_object(
      'rank', p_text.vector_rank, 'score', memory._real(p_text.similarity), 'model', p_model) end,
    'keyword', case when p_text.keyword is not null then jsonb_build_object(
      'rank', p_text.keyword_rank, 'score', memory._real(p_text.keyword_share), 'terms', p_text.terms,
      -- Rounding errors are no words around.
      'around', case when p_text.keyword_around > 1e-9 then memory._real(p_text.keyword_around) end) end,
    'fused', jsonb_build_object(
      'by', p_fusion, 'score', memory._real(p_text.score),
      'keyword_weight', case when p_text.keyword_weight <> 1 then memory._real(p_text.keyword_weight) end,
      'neighbour', memory._real(nullif(p_text.neighbour, 0)), 'reply', p_text.reply, 'speaker', p_text.speaker,
      'dates', memory._real(p_text.dates), 'newer', memory._real(p_text.newer),
      'weight', case when p_text.source = 'summary' and p_summary_weight < 1 then p_summary_weight end)));
end;
$$;
