-- needs pgvector on the search_path

-- How search ranks. Every figure was measured on conversations with marked evidence; bench/results/quality.md has them.
--
-- Keywords: any word may match. A text's weight is the sum over its matched words of idf (as in BM25) times ts_rank with
-- the length in its logarithm, which saturates as BM25 does and ranks as well, at a tenth of the time of counting words.
-- Document frequencies are counted among what this search may see, so nobody else's texts shine through and there are no
-- statistics to keep.
-- Meaning: the exact cosine similarity with every candidate; no index is needed or used here.
-- Both: each arm is brought to 0..1 within the query and they count half each (score), or reciprocal ranks are added (rrf).
-- A message is often the answer to the one before it, so a message gains from its better neighbour in the thread.
create or replace function memory._ranked(
  p_user_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb, p_sources text[], p_row_limit int,
  p_agent_id text default null, p_thread_id text default null, p_exclude_thread_id text default null, p_memory_types text[] default null,
  p_tags_all text[] default null, p_tags_any text[] default null, p_exclude_tags text[] default null, p_filter jsonb default null,
  p_min_score double precision default null, p_min_confidence double precision default null, p_created_after timestamptz default null,
  p_created_before timestamptz default null, p_as_of timestamptz default null, p_include_superseded boolean default false,
  p_explain boolean default false, p_doc_types text[] default null, p_namespaces text[] default null
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
set jit = off
-- Hash joins are forced: without statistics the planner takes a thousand candidates for one and would compare each with
-- each, with them it sorts ids, which takes twenty times as long.
set enable_nestloop = off
set enable_mergejoin = off
set enable_seqscan = off -- with few users on a server, one plan for all of them would read everybody's rows
set enable_bitmapscan = off -- a user's rows are read in the order of their ids, which is that of time: 2 % faster, 10 to 20 % from a cold disk
set plan_cache_mode = force_generic_plan -- planning takes three times as long as running
as $$
declare
  fusion constant text := case when p_mode <> 'hybrid' then p_mode when p_query is null then 'vector' when p_settings ->> 'fusion' = 'rrf' then 'rrf' else 'score' end;
  rrf_k constant int := (p_settings ->> 'rrf_k')::int;
  unfiltered constant boolean := p_include_superseded is not true and num_nonnulls(
    p_thread_id, p_exclude_thread_id, p_memory_types, p_tags_all, p_tags_any, p_exclude_tags, p_filter, p_min_confidence, p_created_after, p_created_before, p_as_of,
    p_doc_types, p_namespaces) = 0;
  -- Looking into a source costs a tenth of a search, even where there is nothing.
  has_documents constant boolean := 'document' = any (p_sources) and exists (select from memory.documents as d where d.user_id = p_user_id);
  among_memories constant boolean := unfiltered and fusion <> 'rrf' and 'memory' = any (p_sources) and p_sources <@ '{memory,summary,document}'
    and not has_documents and not ('summary' = any (p_sources) and exists (select from memory.summaries as s where s.user_id = p_user_id));
  keeps_all_similar constant boolean := p_explain or fusion = 'rrf' or 'message' = any (p_sources) or has_documents;
  dims constant int := memory._dimensions(p_target);
  nearest memory.ranking[];
  words text[];
  words_as_queries tsquery[];
  any_word tsquery;
  beginnings text[];
  language constant regconfig := (p_settings ->> 'language')::regconfig;
begin
  if p_mode <> 'vector' then
    -- A query may be a whole message. Two hundred words say what it is about.
    select array_agg(w.lexeme), array_agg(quote_literal(w.lexeme)::tsquery), string_agg(quote_literal(w.lexeme), ' | ')::tsquery
    into words, words_as_queries, any_word
    from (select v.lexeme from unnest(memory._text_vector(language, left(p_query, 8000))) as v
          order by v.positions[1], v.lexeme limit 200) as w;
    beginnings := case when 'message' = any (p_sources) then memory._beginnings(words) end;
  end if;

  if unfiltered and fusion = 'vector' and 'memory' = any (p_sources) and p_row_limit <= 100 then -- for more, comparing all is as fast
    nearest := case
      when (select sum(s.memory_count) from memory.memory_scopes as s where s.user_id = p_user_id) > (p_settings ->> 'approximate_above')::bigint
        and memory._has_vector_index(p_model)
      then memory._nearest_among_memories(p_user_id, p_agent_id, p_model, p_target, p_row_limit, p_explain) end;
  end if;
  if cardinality(nearest) = p_row_limit then -- else the index has met too few that are this user's
    return query
    select row_number() over best_first, r.source, r.id, r.thread_id, r.number, r.created_at, r.score,
      case when p_explain then jsonb_set(r.explanation, '{vector,rank}', to_jsonb(rank() over (order by r.score desc))) end
    from (
      select n.* from unnest(nearest) as n
      union all
      -- What else there is: cosines are compared as they are.
      select o.*
      from memory._ranked(
        p_user_id => p_user_id, p_query => p_query, p_model => p_model, p_target => p_target, p_mode => p_mode, p_settings => p_settings,
        p_sources => array_remove(p_sources, 'memory'), p_row_limit => p_row_limit, p_agent_id => p_agent_id, p_explain => p_explain) as o
      where cardinality(p_sources) > 1
    ) as r
    where p_min_score is null or r.score >= memory._real(p_min_score)
    window best_first as (order by r.score desc, r.created_at desc, r.id)
    limit p_row_limit;
    return;
  end if;
  if among_memories and not p_explain then -- explain wants the ranks that only the steps below know
    return query
    select r.* from memory._ranked_among_memories(p_user_id, p_agent_id, words, words_as_queries, any_word, p_model, p_target, fusion,
                                                  p_min_score, p_row_limit) as r;
    return;
  end if;

  return query
  with candidates as materialized (
    select t.*, case when t.content is not null then 100 + least(octet_length(t.content), 262144) end as cost,
      s.similarity
    from (
      select v.source, v.id collate "C" as id, v.thread_id, v.number, v.created_at, case when v.vector @@ any_word
        then v.vector end as vector,
        v.content, v.metadata
      from memory._searchable(p_user_id, p_sources, p_agent_id, p_thread_id, p_exclude_thread_id, p_memory_types, p_tags_all,
        p_tags_any, p_exclude_tags, p_filter, p_min_confidence, p_created_after, p_created_before, p_as_of,
        p_include_superseded, p_doc_types, p_namespaces, unfiltered,
        any_word is not null) as v
      offset 0 -- so that words are compared here, and no vector without a match goes into the join
    ) as t
    left join (
      select e.source, e.id, memory._cosine_similarity(e.embedding, p_target) as similarity
      from memory.embeddings as e
      where p_mode <> 'keyword' and e.user_id = p_user_id and e.model = p_model and e.source = any (p_sources)
        and memory._dimensions(e.embedding) = dims
    ) as s on s.source = t.source and s.id collate "C" = t.id collate "C"
  ), corpus as materialized (
    select count(*) as texts, max(c.similarity) as highest, min(c.similarity) as lowest,
      memory._parsing_budget(count(c.content), sum(c.cost)) as budget
    from candidates as c
  ), unparsed as materialized (
    select c.*, sum(c.cost) over newest_first as cost_so_far, row_number() over newest_first as place
    from candidates as c
    where (select o.budget from corpus as o) is not null and c.content is not null
    window newest_first as (order by c.created_at desc, c.thread_id, c.number desc rows unbounded preceding)
  ), parsed as materialized (
    -- The newest message whatever it costs, then as many as the budget pays for; of the others those
    -- that begin with most words of the query.
    select t.source, t.id, t.thread_id, t.number, t.created_at, t.similarity, t.parsed as vector
    from (
      select p.*, memory._message_vector(language, p.said, p.metadata, p.created_at) as parsed
      from (
        select u.*, u.content as said from unparsed as u where u.place = 1 or u.cost_so_far <= (select o.budget
          from corpus as o)
        union all
        (select u.*
         from (
           select u.*, lower(left(u.content, 200)) as said from unparsed as u
           where u.place > 1 and u.cost_so_far > (select o.budget from corpus as o)
           offset 0 -- so that each is cut once
         ) as u
         cross join lateral (select memory._words_that_begin(u.said, beginnings) as words offset 0) as k
         where k.words > 0
         order by k.words desc, u.place limit 3000)
      ) as p
      offset 0 -- so that each is parsed once
    ) as t
    where t.parsed @@ any_word
  ), worded as materialized (
    select row_number() over () as place, w.*
    from (
      select c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity, c.vector from candidates as c
        where c.vector is not null
      union all
      select p.* from parsed as p
    ) as w
  ), matches as materialized (
    select t.place, w.word, ts_rank('{1,1,1,1}', t.vector, w.as_query, 1)::double precision as weight
    from worded as t cross join unnest(words, words_as_queries) as w (word, as_query)
    where t.vector @@ w.as_query
  ), weights as materialized (
    select m.word, memory._idf((select c.texts from corpus as c), count(*)) as idf from matches as m group by m.word
  ), keywords as materialized (
    -- A word that no text has still counts: a text with half of the query's words is no perfect match.
    select m.place, sum(w.idf * m.weight) as score, sum(w.idf) / (
        select sum(f.idf) + (cardinality(words) - count(*)) * memory._idf((select c.texts from corpus as c), 0) from weights as f
      ) as share, jsonb_object_agg(m.word, round(w.idf::numeric, 3)) filter (where p_explain) as terms
    from matches as m join weights as w on w.word = m.word group by m.place
  ), best as materialized (
    -- The best of bad matches is none: under two thirds of the query's words, by weight, all keyword scores are lowered.
    select c.highest, c.lowest, k.score as keyword, least(1, 1.5 * k.share) as trust, num_nonnulls(c.highest, k.score) as arms
    from corpus as c left join (select k.score, k.share from keywords as k order by k.score desc, k.share desc limit 1) as k on true
  ), contenders as (
    select t.source, t.id, t.thread_id, t.number, t.created_at, t.similarity, k.score as keyword, k.terms
    from worded as t join keywords as k on k.place = t.place
    union all
    -- Where no word matches, only similarity counts, so no more than row_limit can come up. But messages have neighbours
    -- and documents pieces that may lift them.
    (select c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity, null, null
     from candidates as c
     where c.vector is null and c.similarity is not null and (c.content is null
       or c.id not in (select p.id from parsed as p))
     order by c.similarity desc, c.created_at desc, c.id
     limit case when keeps_all_similar then null else p_row_limit end)
  ), ranks as (
    select c.source, c.id collate "C" as id, case when c.similarity is not null then rank() over (order by c.similarity desc nulls last) end as vector_rank,
      case when c.keyword is not null then rank() over (order by c.keyword desc nulls last) end as keyword_rank
    from contenders as c
    where p_explain or fusion = 'rrf'
  ), scored as materialized (
    select c.source, c.id, c.thread_id, c.number, c.created_at, c.similarity, c.keyword, c.terms, r.vector_rank, r.keyword_rank,
      k.share as keyword_share,
      case fusion
        when 'vector' then c.similarity
        when 'keyword' then k.share
        when 'rrf' then (coalesce(1.0 / (rrf_k + r.vector_rank), 0) + coalesce(1.0 / (rrf_k + r.keyword_rank), 0)) * (rrf_k + 1) / case when c.similarity is null then 1 else b.arms end
        else memory._fused_score(c.similarity, b.highest, b.lowest, k.share, b.arms)
      end::double precision as score
    from contenders as c left join ranks as r on r.source = c.source and r.id = c.id collate "C" cross join best as b
    cross join lateral (select c.keyword / b.keyword * b.trust as share) as k
  ), neighboured as (
    select s.*, 0::double precision as neighbour, 1::bigint as piece from scored as s
    where s.source in ('memory', 'summary', 'artifact')
    union all
    select s.*,
      case when fusion in ('score', 'keyword') then greatest(
        case when lag(s.number) over in_order = s.number - 1 then lag(s.score) over in_order end,
        case when lead(s.number) over in_order = s.number + 1 then lead(s.score) over in_order end, 0) else 0 end, 1
    from scored as s
    where s.source = 'message'
    window in_order as (partition by s.thread_id collate "C" order by s.number)
    union all
    select s.*, 0, row_number() over (partition by split_part(s.id, '/', 1) collate "C" order by s.score desc, s.number)
    from scored as s
    where s.source = 'document'
  ), top as (
    select f.*
    from (select n.*, least(n.score + 0.4 * n.neighbour * (1 - n.score), 1) as final from neighboured as n where n.piece = 1) as f
    where p_min_score is null or memory._real(f.final) >= memory._real(p_min_score)
    order by f.final desc, f.created_at desc, f.id limit p_row_limit
  )
  select row_number() over (order by t.final desc, t.created_at desc, t.id), t.source, t.id, t.thread_id, t.number,
    t.created_at, memory._real(t.final),
    case when p_explain then jsonb_strip_nulls(jsonb_build_object(
      'vector', case when t.similarity is not null then jsonb_build_object('rank', t.vector_rank, 'score',
        memory._real(t.similarity), 'model', p_model) end,
      'keyword', case when t.keyword is not null then jsonb_build_object('rank', t.keyword_rank, 'score',
        memory._real(t.keyword_share), 'terms', t.terms) end,
      'fused', jsonb_build_object('by', fusion, 'score', memory._real(t.score), 'neighbour', case when t.neighbour > 0
        then memory._real(t.neighbour) end))) end
  from top as t;
end;
$$;
