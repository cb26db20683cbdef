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
-- message, too, with 0.6 of its weight at a distance of one and 0.4 at a distance of two, unless most texts have the
-- word. And the message gains from its better neighbour in the thread. Then the statement orders the 200 best texts
-- anew. It multiplies the score of a message by 0.8 if the query names a speaker and another speaker with a name has
-- said the message; by 0.85 if the query names days and the message is of another day; and by 0.9 if an assistant
-- without a name has said the message, because the answer more often stands in the person's own words. If the query
-- asks for the assistant's words (asks_the_assistant.sql), messages of a person without a name get the factor 0.9
-- instead. At last the newest of several statements of a figure gains (newer_figures.sql). Recall@10 of 1,536 questions
-- about ten conversations of two people: 71.7 % with the best neighbour alone, 75.8 % with the words around added, 78.3
-- % with speakers, 79.0 % with days. With replies of 577 words recall@10 rises from 64.4 to 69.0 %, and where nobody
-- has a name from 56.7 to 63.0 % (504 questions).
--
-- A search takes one of three ways: the approximate index, the statement for memories alone (both in
-- memory_ranking.sql), or the statement below for all sources, which takes 1.2 to 1.7 times as long for memories.
create or replace function memory._ranked(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters default null,
  p_min_score double precision default null, p_explain boolean default false
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
  rrf_k constant int := (p_settings ->> 'rrf_k')::int;
  language constant regconfig := (p_settings ->> 'language')::regconfig;
  unfiltered constant boolean := p_filters is null; -- also true for a row of nulls
  -- Only the sources in which the user has texts: reading an empty source takes a tenth of the time of a search.
  sources constant text[] := array(
    select s.source
    from unnest(case when unfiltered then p_sources else memory._sources_that_pass(p_sources, p_filters) end)
      as s (source)
    where case s.source
      when 'document' then exists (select from memory.documents as d where d.user_id = p_user_id)
      when 'summary' then exists (select from memory.summaries as u where u.user_id = p_user_id)
      when 'message' then exists (select from memory.messages as m where m.user_id = p_user_id)
      else true end);
  among_memories constant boolean := unfiltered and fusion <> 'rrf' and sources = '{memory}';
  -- Beside messages the score of a summary is halved, so that a message comes before the summary that repeats it. With
  -- a summary of each session of four conversations of LoCoMo, recall@10 of the messages was 74.2 % with the whole
  -- score and 76.4 % with half of it. In a search by meaning alone the score stays whole, because it is a cosine.
  summary_weight constant double precision := case
    when 'message' = any (sources) and fusion <> 'vector' then 0.5 else 1 end;
  needs_ranks constant boolean := p_explain or fusion = 'rrf';
  keeps_all_similar constant boolean := needs_ranks or sources && '{document,artifact}'
    or 'message' = any (sources) and fusion <> 'vector';
  dims constant int := memory._dimensions(p_target);
  nearest memory.ranking[];
  -- The messages of a user with very many messages that enter the ranking. All rows of read_sources enter the ranking.
  preselected memory._message_candidates;
  read_sources text[] := sources;
  words text[];
  words_as_queries tsquery[];
  any_word tsquery;
  beginnings text[];
  -- The next two values only change the order of messages.
  meant constant jsonb :=
    case when 'message' = any (p_sources) then memory._days_meant(p_query, statement_timestamp()) end;
  asks_the_assistant constant boolean :=
    'message' = any (p_sources) and coalesce(memory._asks_the_assistant(p_query), false);
begin
  if p_mode <> 'vector' then
    -- A query may be a whole message. Two hundred words are enough to say its subject.
    words := nullif(memory._query_words(
      memory._languages(p_user_id, p_agent_id, p_settings ->> 'language'), p_query, 200), '{}');
    select array_agg(quote_literal(w)::tsquery order by n), string_agg(quote_literal(w), ' | ')::tsquery
    into words_as_queries, any_word
    from unnest(words) with ordinality as q (w, n);
    beginnings := case when sources && '{message,artifact}' then memory._beginnings(words) end;
  end if;

  -- The approximate index. Comparing all memories is as fast for more than 100 results, and for a user with less than a
  -- fiftieth of the index: the scan then passes 50 memories of other users for each memory that it finds.
  if unfiltered and fusion = 'vector' and 'memory' = any (sources) and p_row_limit <= 100 then
    nearest := case
      when (select sum(s.memory_count) from memory.memory_scopes as s where s.user_id = p_user_id)
             > greatest((p_settings ->> 'approximate_above')::bigint,
                 (select c.reltuples / 50 from pg_class as c where c.oid = memory._vector_index(p_model)))
        and memory._has_vector_index(p_model)
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

  -- The way among memories alone. explain needs ranks, which only the statement below computes.
  if among_memories and not p_explain then
    return query
    select r.* from memory._ranked_among_memories(
      p_user_id, p_agent_id, words, words_as_queries, any_word, p_model, p_target, fusion, p_min_score,
      p_row_limit) as r;
    return;
  end if;

  if 'message' = any (sources) then
    preselected := memory._message_candidates(p_user_id, p_agent_id, words, p_model, p_target, fusion,
      (p_settings ->> 'preselect_above')::int, p_row_limit, p_filters);
    read_sources := case when preselected.seqs is null then sources else array_remove(sources, 'message') end;
  end if;

  -- The way among all sources.
  return query
  with candidates as materialized (
    -- The texts that the search may see, with their similarity, and with their vector if a word of the query matches.
    select row_number() over () as place, t.*, s.similarity,
      case when t.content is not null then 100 + least(octet_length(t.content), 262144) end as cost
    from (
      select v.source, v.id collate "C" as id, v.thread_id, v.number, v.created_at,
        case when v.vector @@ any_word then v.vector end as vector, v.content, v.metadata
      -- The row names each field, so that the planner puts its value into the conditions. The fields of p_filters
      -- itself would be looked up for every candidate: 0.1 to 0.2 ms for 1,000, which is 2 to 4 % of a search with
      -- filters.
      from memory._searchable(
        p_user_id, read_sources, p_agent_id,
        row(p_filters.thread_id, p_filters.exclude_thread_id, p_filters.memory_types, p_filters.tags_all,
            p_filters.tags_any, p_filters.exclude_tags, p_filters.filter, p_filters.min_confidence,
            p_filters.created_after, p_filters.created_before, p_filters.as_of, p_filters.include_superseded,
            p_filters.doc_types, p_filters.namespaces)::memory._search_filters,
        unfiltered, any_word is not null) as v
      union all
      select p.source, p.id collate "C", p.thread_id, p.number, p.created_at,
        case when p.vector @@ any_word then p.vector end, p.content, p.metadata
      from memory._preselected_messages(
        p_user_id, preselected.thread_ids, preselected.seqs, p_agent_id, p_filters, any_word is not null) as p
      offset 0 -- so that this subquery compares the words, and no vector without a match goes into the join
    ) as t
    left join (
      -- One branch for each source: PostgreSQL may make a filter of "= any" and would read all embeddings of the user.
      {{each source, union all:
      select '<source>' as source, e.id, memory._cosine_similarity(e.embedding, p_target) as similarity
      from memory.embeddings as e
      where p_mode <> 'keyword' and '<source>' = any (read_sources)
        and e.user_id = p_user_id and e.model = p_model and e.source = '<source>'
        and memory._dimensions(e.embedding) = dims}}
      union all
      select 'message', p.id, p.similarity
      from memory._compared_messages(
        p_user_id, preselected.thread_ids, preselected.seqs, p_model, p_target) as p
      where p_mode <> 'keyword'
    ) as s on s.source = t.source and s.id collate "C" = t.id collate "C"
  ), corpus as materialized (
    -- preselected.texts is an estimate, so texts is at least the number of candidates: no word is in more texts.
    select greatest(count(*), count(*) filter (where c.source = any (read_sources)) + coalesce(preselected.texts, 0))
        as texts,
      max(c.similarity) as highest, least(min(c.similarity), preselected.lowest) as lowest,
      memory._parsing_budget(count(c.content), sum(c.cost)) as budget
    from candidates as c
  ), unparsed as materialized (
    -- Messages and parts of artifacts whose words are not parsed yet, newest first.
    select c.*, sum(c.cost) over newest_first as cost_so_far, row_number() over newest_first as age
    from candidates as c
    where (select o.budget from corpus as o) is not null and c.content is not null
    window newest_first as (order by c.created_at desc, c.thread_id, c.number desc rows unbounded preceding)
  ), parsed as materialized (
    -- The newest message whatever its cost, then whole messages until the budget is spent. Then the first 200
    -- characters of the other messages, beginning with those whose first 200 characters have most words of the query.
    select t.place, t.source, t.thread_id, t.number, t.parsed as vector
    from (
      select p.*,
        case p.source
          when 'message' then memory._message_vector(language, p.said, p.metadata, p.created_at)
          else memory._text_vector(language, p.said) end as parsed
      from (
        select u.*, u.content as said
        from unparsed as u
        where u.age = 1 or u.cost_so_far <= (select o.budget from corpus as o)
        union all
        (select u.*
         from (
           select u.*, lower(left(u.content, 200)) as said
           from unparsed as u
           where u.age > 1 and u.cost_so_far > (select o.budget from corpus as o)
           offset 0 -- so that each text is cut once
         ) as u
         cross join lateral (select memory._words_that_begin(u.said, beginnings) as words offset 0) as k
         where k.words > 0
         order by k.words desc, u.age limit 3000)
      ) as p
      offset 0 -- so that each text is parsed once
    ) as t
    where t.parsed @@ any_word
  ), worded as materialized (
    -- All texts that have a word of the query.
    select c.place, c.source, c.thread_id, c.number, c.vector from candidates as c where c.vector is not null
    union all
    select p.* from parsed as p
  ), matches as materialized (
    select t.place, t.source, w.word, w.frequency, memory._word_weight(t.vector, w.as_query) as weight
    from worded as t
    cross join unnest(words, words_as_queries, preselected.frequencies) as w (word, as_query, frequency)
    where t.vector @@ w.as_query
  ), weights as materialized (
    select f.word, f.weight, memory._idf(c.texts, f.found) as idf,
      least(f.found::double precision / c.texts, 1) as frequency
    from (
      select m.word, avg(m.weight) as weight,
        greatest(count(*), count(*) filter (where m.source = any (read_sources)) + max(m.frequency)) as found
      from matches as m
      group by m.word) as f
    cross join corpus as c
  ), keywords as materialized (
    -- share: the idf of those words of the query that the text has, divided by the idf of all words of the query.
    select m.place, sum(w.idf * m.weight) as score,
      sum(w.idf) / (
        select memory._query_idf(sum(f.idf), cardinality(words) - count(*), (select c.texts from corpus as c))
        from weights as f) as share,
      jsonb_object_agg(m.word, round(w.idf::numeric, 3)) filter (where p_explain) as terms
    from matches as m join weights as w on w.word = m.word
    group by m.place
  ), around as materialized (
    -- The sum over words of the greatest weight that a word has in a message or in one of the two before and after it.
    select v.thread_id, v.number, sum(v.idf * v.weight) as score
    from (
      select m.thread_id, m.number + o.step as number, m.idf, max(m.weight * o.share) as weight
      from (
        select t.thread_id collate "C" as thread_id, t.number, m.word, m.weight, w.idf, w.frequency
        from matches as m join worded as t on t.place = m.place join weights as w on w.word = m.word
        where t.source = 'message' and fusion in ('score', 'keyword')
        offset 0 -- so that the words of a message are looked up before the join multiplies the message
      ) as m
      join (values (0, 1.0::double precision), (-1, 0.6), (1, 0.6), (-2, 0.4), (2, 0.4)) as o (step, share)
        on o.step = 0 or m.frequency <= 0.5
      group by m.thread_id, m.number + o.step, m.word, m.idf
    ) as v
    group by v.thread_id, v.number
  ), best as materialized (
    select c.highest, c.lowest, memory._trust(k.share) as trust, num_nonnulls(c.highest, k.score) as arms,
      (select memory._keyword_weight(k.score, sum(w.idf * w.weight * w.frequency),
         sum((w.idf * w.weight) ^ 2 * w.frequency * (1 - w.frequency)), c.texts) from weights as w) as weight
    from corpus as c
    left join (select k.score, k.share from keywords as k order by k.score desc, k.share desc limit 1) as k on true
  ), least as materialized (
    -- The lowest similarity that a text without a matching word needs. Where neither neighbours nor other pieces of the
    -- same text count, only the p_row_limit most similar of these texts can be among the results.
    select coalesce((
      select c.similarity from candidates as c where not keeps_all_similar and c.similarity is not null
      order by c.similarity desc offset p_row_limit - 1 limit 1), '-infinity') as similarity
  ), contenders as materialized (
    select c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity, k.score as own, k.terms,
      coalesce(a.score, k.score) as keyword
    from candidates as c
    left join keywords as k on k.place = c.place
    left join around as a
      on c.source = 'message' and a.thread_id = c.thread_id collate "C" and a.number = c.number
    where num_nonnulls(c.similarity, c.vector, c.content) > 0 -- tested before the joins
      and (k.score is not null or c.similarity >= (select l.similarity from least as l))
  ), highest as materialized (
    select max(c.keyword) as keyword from contenders as c
  ), ranked as (
    select c.*, null::bigint as vector_rank, null::bigint as keyword_rank
    from contenders as c
    where not needs_ranks
    union all
    select c.*,
      case when c.similarity is not null then rank() over (order by c.similarity desc nulls last) end,
      case when c.keyword is not null then rank() over (order by c.keyword desc nulls last) end
    from contenders as c
    where needs_ranks
  ), scored as materialized (
    select c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity, c.keyword, c.terms,
      c.vector_rank, c.keyword_rank, k.share as keyword_share, k.share - k.own_share as keyword_around,
      case when b.arms = 2 and fusion = 'score' then b.weight end as keyword_weight,
      case fusion
        when 'vector' then c.similarity
        when 'keyword' then k.share
        when 'rrf' then
          (coalesce(1.0 / (rrf_k + c.vector_rank), 0) + coalesce(1.0 / (rrf_k + c.keyword_rank), 0)) * (rrf_k + 1)
          / case when c.similarity is null then 1 else b.arms end
        else memory._fused_score(c.similarity, b.highest, b.lowest, k.share, b.weight, b.arms)
      end::double precision as score
    from ranked as c
    cross join best as b
    cross join highest as h
    cross join lateral (
      select c.keyword / h.keyword * b.trust as share,
        coalesce(c.own, 0) / h.keyword * b.trust as own_share) as k
  ), talk as (
    select s.thread_id collate "C" as thread_id, s.number, s.score
    from scored as s
    where s.source = 'message' and fusion in ('score', 'keyword')
  ), neighboured as (
    -- A message gets the score of its better neighbour. A piece of a document or artifact gets its rank among the
    -- pieces of the same document or artifact.
    select s.*, greatest(b.score, a.score, 0) as neighbour, 1::bigint as piece
    from scored as s
    left join talk as b on b.thread_id = s.thread_id collate "C" and b.number = s.number - 1
    left join talk as a on a.thread_id = s.thread_id collate "C" and a.number = s.number + 1
    where s.source not in ('document', 'artifact')
    union all
    select s.*, 0,
      row_number() over (
        partition by s.source, substring(s.id from '^(.*)/') collate "C" order by s.score desc, s.number)
    from scored as s
    where s.source in ('document', 'artifact')
  ), pool as (
    select n.*, least(n.score + 0.4 * n.neighbour * (1 - n.score), 1)
        * case n.source when 'summary' then summary_weight else 1 end as gained
    from neighboured as n
    where n.piece = 1
    order by gained desc, n.created_at desc, n.id limit greatest(200, 150 + p_row_limit)
  ), spoken as materialized (
    -- The speaker and the time of each message of the pool.
    select p.*, m.role, m.name,
      case when meant is not null then memory._share_within(p.created_at, meant) end as within
    from pool as p
    left join lateral (
      select m.role, m.metadata ->> 'name' as name
      from memory.messages as m
      where p.source = 'message' and fusion in ('score', 'keyword')
        and m.user_id = p_user_id and m.thread_id = p.thread_id and m.seq = p.number
      offset 0 -- so that each message is looked up by its key
    ) as m on true
  ), asked as (
    -- The speakers whom the query names.
    select n.name from (select distinct s.name from spoken as s where s.name is not null offset 0) as n -- parsed once
    where memory._text_vector(language, left(n.name, 200)) @@ any_word
  ), judged as (
    select s.*,
      case when s.name is null and (s.role = 'user') = asks_the_assistant then 0.9 end as reply,
      case when s.name not in (select a.name from asked as a) and exists (select from asked) then 0.8 end as speaker,
      case when s.role is not null and max(s.within) filter (where s.role is not null) over () > 0
        then nullif(0.85 + 0.15 * s.within, 1) end as dates
    from spoken as s
  ), weighed as materialized (
    select j.*, j.gained * coalesce(j.reply, 1) * coalesce(j.speaker, 1) * coalesce(j.dates, 1) as final
    from judged as j
  ), newer as materialized (
    select n.*
    from (select array_agg(w.id) as ids, array_agg(w.similarity) as similarities, array_agg(w.final) as scores
          from (select w.* from weighed as w where fusion = 'score'
                order by w.final desc, w.created_at desc, w.id limit 50) as w
          where w.role = 'user' and w.similarity is not null) as b
    cross join lateral memory._newer_figures(p_user_id, p_model, b.ids, b.similarities, b.scores) as n
  ), top as (
    select w.*, n.score as newer, r.score as result
    from weighed as w
    left join newer as n on w.role = 'user' and n.id = w.id
    cross join lateral (select coalesce(n.score, w.final) as score) as r
    where p_min_score is null or memory._real(r.score) >= memory._real(p_min_score)
    order by r.score desc, w.created_at desc, w.id limit p_row_limit
  )
  select row_number() over (order by t.result desc, t.created_at desc, t.id), t.source, t.id, t.thread_id, t.number,
    t.created_at, memory._real(t.result),
    case when p_explain then jsonb_strip_nulls(jsonb_build_object(
      'vector', case when t.similarity is not null then jsonb_build_object(
        'rank', t.vector_rank, 'score', memory._real(t.similarity), 'model', p_model) end,
      'keyword', case when t.keyword is not null then jsonb_build_object(
        'rank', t.keyword_rank, 'score', memory._real(t.keyword_share), 'terms', t.terms,
        'around', case when t.keyword_around > 0 then memory._real(t.keyword_around) end) end,
      'fused', jsonb_build_object(
        'by', fusion, 'score', memory._real(t.score),
        'keyword_weight', case when t.keyword_weight <> 1 then memory._real(t.keyword_weight) end,
        'neighbour', memory._real(nullif(t.neighbour, 0)), 'reply', t.reply, 'speaker', t.speaker,
        'dates', memory._real(t.dates), 'newer', memory._real(t.newer),
        'weight', case when t.source = 'summary' and summary_weight < 1 then summary_weight end))) end
  from top as t;
end;
$$;
