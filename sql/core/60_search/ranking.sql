-- needs pgvector on the search_path

-- The ranking of a search: one score for the texts of all sources and spaces.
--
-- The score of a text is a logistic function of a handful of features. The weights of the features are data,
-- weights.json, and the build puts them in place of their names. python -m bench.quality.fit fits the weights on marked
-- evidence (recall@10 of LoCoMo 80.4 %, of months of work 88.1 %); the weights of memory, summary and use are chosen by
-- hand, because such evidence tells nothing about them. In a search by meaning alone the score is the cosine
-- similarity; with policy search.fusion rrf the score is the sum of reciprocal ranks by meaning and by words.
--
-- One scan reads each text that the search may see: its similarity to the query and which words of the query it has. A
-- text is ranked if it has a word of the query, if it is among the most similar (pool), or if a message around it has
-- such a word or one beside it is among the first quarter of these. Embeddings are compared exactly; of users with very
-- many texts, memory._nearest_memories() and memory._preselected() first choose the texts. The rarity of a word is
-- counted over all texts of the user and the spaces. So there is one ranking, scores say nothing about the texts of
-- other users, and no statistics need maintenance.
--
-- meaning: the similarity of the text's embedding to the query, on a scale that ends at 1 for the most similar text.
--   The scale spans at least 0.3 (for a model whose nothing_below is 0.2), so that a tiny difference among a handful of
--   texts decides nothing. A text without an embedding has 0.5, and more, up to 1, the more of the query's words it
--   has. If no embedding is compared, all texts have 0.5.
-- words: the share of the query's words that the text has, each weighed by its rarity (the idf of BM25).
-- near: the share of the query's words that a message lacks, but that one of the two messages before it or after it in
--   the thread has. A word counts 0.6 if the nearer message has it, 0.4 if only the other one has it, and less if that
--   message is long. A word that more than half of the texts have does not count. The factors keep a message with a
--   word before the messages around it.
-- neighbour: the meaning of the message before or after it in the thread, whichever is more similar, times (1 - the
--   meaning of the message itself). If neither is among the most similar texts (pool), it counts as if one were the
--   last of these, so that few neighbours are looked up. With 0 instead, recall@10 of LoCoMo fell by 1.1 points.
-- length: the logarithm of the number of different words, up to 100.
-- memory, summary: whether the text is a memory, and whether it is a summary while the search also reads messages of
--   the user, which the summary repeats.
--
-- The features below need other tables, which are read for the best texts only.
--
-- speaker: the query names a speaker, and another speaker with a name said the message.
-- day: the query names days, and the message is of them (0), of another day of the month (-0.5), or neither (-1). All
--   have 0 if no message is of these days or months.
-- reply: an assistant without a name said the message, because the answer is more often in the person's own words; or a
--   person without a name said it, if the query asks for the assistant's words (asks_the_assistant.sql).
-- use: for a memory that was recorded as wrong (memory.record_use()), how likely it is wrong, times policy
--   search.use_weight. The likelihood is the mean of a Beta distribution of the memory's wrong and helpful outcomes
--   (Laplace's rule of succession, with one imagined helpful outcome and no imagined wrong one). No memory rises
--   because it was used: with a prior that rises with uses, recall@1 of evidence that nobody had used fell by up to 3.7
--   points (bench/results/uses.md).
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
  -- The sources with texts that can pass the filters: only memories pass the filters of types, tags and confidence, and
  -- only documents pass those of doc_types and namespaces.
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
  rrf_k constant int := (p_settings ->> 'rrf_k')::int;
  -- How many texts without a word of the query are scored, and how many of the best texts get the features of other
  -- tables. Their neighbours and these features change the order, so the texts are more than those that are returned.
  -- Of documents and artifacts all pieces with an embedding are scored, because the best piece of each counts, and all
  -- texts where ranks are needed.
  pool constant int := case when is_judged then greatest(200, 150 + 2 * p_row_limit) else p_row_limit end;
  meant constant jsonb := case when is_judged then memory._days_meant(p_query, p_user_id) end;
  asks_the_assistant constant boolean := coalesce(is_judged and memory._asks_the_assistant(p_query), false);
  -- By how much the features of other tables can change a logit. Only texts that these features can bring among the
  -- first p_row_limit get them; speakers and days count as named if a message of these texts has them.
  most_changed constant double precision := abs({{weight speaker}}) + abs({{weight reply}})
    + case when meant is not null then abs({{weight day}}) else 0 end + abs({{weight use}}) * use_weight;
  language constant regconfig := (p_settings ->> 'language')::regconfig;
  nothing_below constant double precision := memory._nothing_below(p_model);
  preselect_above constant int := (p_settings ->> 'preselect_above')::int;
  -- Whether embeddings of p_model are in memory.embeddings instead of memory.texts, because another model is active.
  are_behind constant boolean := p_target is not null and exists (
    select from memory.embeddings as e where e.user_id = any (p_user_id || p_spaces) and e.model = p_model);
  query_words text[];
  as_queries tsquery[]; -- each of query_words
  any_word tsquery;
  looked_up text[]; -- of memory._passing()
  passing text[];
  memories text[]; -- those that the approximate index finds nearest; null for all
  preselected record; -- of memory._preselected(): which messages are ranked if the user has very many
begin
  if p_mode = 'keyword' then
    p_target := null;
  end if;
  if p_mode <> 'vector' then
    -- A query may be a whole message. Two hundred words are enough to say its subject.
    query_words := nullif(memory._query_words(
      memory._languages(p_user_id, p_agent_id, p_settings ->> 'language', p_query), p_query, 200), '{}');
    as_queries := array(select quote_literal(w)::tsquery from unnest(query_words) as w);
    any_word := nullif(array_to_string(as_queries, ' | '), '')::tsquery;
  end if;
  if not (p_filters is null) then -- a row of nulls is null, too
    select p.looked_up, p.passing into looked_up, passing
    from memory._passing(p_user_id || p_spaces, sources, p_filters) as p;
  end if;
  if fusion = 'vector' and 'memory' = any (sources) and p_filters is null and p_spaces is null then
    memories := memory._nearest_memories(p_user_id, p_agent_id, p_model, p_target, p_settings, p_row_limit);
  end if;
  select p.* into preselected
  from memory._preselected(
    p_user_id, p_agent_id, query_words, p_model, p_target, fusion, preselect_above, p_row_limit, p_filters) as p
  where beside_messages and preselect_above < (
    select count(*) from (
      select from memory.texts as t
      where t.user_id = p_user_id and t.source = 'message' limit preselect_above + 1) as t);

  return query
  with texts as materialized (
    select c.*
    from memory._candidates(
      p_user_id, p_spaces, p_agent_id, p_agent_of_spaces, sources, p_filters, looked_up, passing, as_queries, any_word,
      p_model, p_target, are_behind, preselected.ids, memories) as c
    union all
    select u.*
    from memory._unread_candidates(
      p_user_id, p_agent_id, sources, p_filters, query_words, as_queries, any_word, language) as u
    where query_words is not null
  ), all_texts as materialized (
    select greatest(count(*) filter (where t.user_id = p_user_id), preselected.texts)
        + count(*) filter (where t.user_id <> p_user_id) as texts,
      max(t.similarity) as highest,
      -- The higher a model's nothing_below, the closer together lie its cosines. The model with which the weights were
      -- fitted has 0.2.
      greatest(max(t.similarity) - least(min(t.similarity), preselected.lowest),
        0.375 * (1 - coalesce(nothing_below, 0.2))) as span
    from texts as t
  ), sets as materialized ( -- the words of the query that texts have together
    select t.matched, count(*) as texts, count(*) filter (where t.source <> 'message') as others
    from texts as t where t.matched is not null group by t.matched
  ), weights as materialized (
    select f.n, memory._idf(a.texts, f.found) as idf, f.found * 2 <= a.texts as is_rare
    from (
      select m.n, greatest(sum(s.texts), sum(s.others) + (preselected.frequencies)[m.n])::bigint as found
      from sets as s cross join unnest(s.matched) as m (n)
      group by m.n) as f
    cross join all_texts as a
  ), asked as materialized ( -- includes words that no text has: half of the words are no perfect match
    select sum(w.idf)
      + (cardinality(query_words) - count(*)) * memory._idf((select a.texts from all_texts as a), 0) as idf
    from weights as w
  ), shares as (
    select s.matched, sum(w.idf) / (select q.idf from asked as q) as words
    from (select s.matched, m.n from sets as s cross join unnest(s.matched) as m (n) offset 0) as s
    join weights as w on w.n = s.n
    group by s.matched
  ), nearest as materialized (
    select t.thread_id, t.number, t.similarity
    from texts as t where t.source not in ('document', 'artifact') and t.similarity is not null
    order by t.similarity desc limit pool
  ), limits as materialized ( -- the similarities from which a text is scored: its own, and that of a message beside it
    select min(n.similarity) as own,
      coalesce((array_agg(n.similarity order by n.similarity desc))[pool / 4], min(n.similarity)) as beside,
      case when count(*) = pool then min(n.similarity) end as unknown -- that of other messages, at most
    from nearest as n
  ), around as ( -- the words that the messages around a message have
    select s.thread_id, s.number, array_agg(s.n) as words, array_agg(s.idf) as idfs, array_agg(s.density) as densities
    from (
      select m.thread_id, m.number + o.step as number, m.n, m.idf,
        max(m.density * case abs(o.step) when 1 then 0.6 else 0.4 end) as density
      from (
        select t.thread_id, t.number, w.n, w.idf, memory._density(t.lexemes) as density
        from (
          select t.thread_id, t.number, t.lexemes, m.n
          from texts as t cross join unnest(t.matched) as m (n)
          where t.source = 'message' and t.matched is not null
          offset 0) as t
        join weights as w on w.n = t.n
        where w.is_rare) as m
      cross join unnest('{-2,-1,1,2}'::int[]) as o (step)
      group by 1, 2, 3, 4) as s
    group by s.thread_id, s.number
  ), scored as materialized (
    select f.*,
      {{weight intercept}} + {{weight meaning}} * f.meaning + {{weight words}} * coalesce(f.words, 0)
        + {{weight near}} * f.near + {{weight neighbour}} * f.neighbour + {{weight length}} * f.length
        + case f.source when 'memory' then {{weight memory}}
            when 'summary' then case when beside_messages then {{weight summary}} else 0 end else 0 end as logit
    from (
      select t.*, case when is_judged
          then coalesce(greatest(1 - (t.highest - t.beside) / t.span, 0) * (1 - t.meaning), 0) else 0 end as neighbour,
        memory._relevance(t.similarity, t.words, nothing_below) as relevance
      from (
        select w.*,
          case when w.highest is null then 0.5
            when w.similarity is not null then greatest(1 - (w.highest - w.similarity) / w.span, 0)
            else (1 + w.words) / 2 end as meaning
        from (
          select c.user_id, c.source, c.id, c.thread_id, c.number, c.created_at, c.matched, c.similarity,
            coalesce(greatest(n.similarity, m.similarity), case c.source when 'message' then l.unknown end) as beside,
            a.highest, a.span, ln(1 + least(coalesce(c.lexemes, 20), 100)) as length,
            case when query_words is not null then coalesce(h.words, 0) end as words,
            case when o.words is null then 0 else (
                select sum(u.idf * greatest(
                  u.density - case when u.n = any (c.matched) then memory._density(c.lexemes) else 0 end, 0))
                from unnest(o.words, o.idfs, o.densities) as u (n, idf, density))
              / (select q.idf from asked as q) end as near
          from texts as c
          left join shares as h on h.matched = c.matched
          left join around as o on o.thread_id = c.thread_id and o.number = c.number and c.source = 'message'
          left join nearest as n on n.thread_id = c.thread_id and n.number = c.number - 1 and c.source = 'message'
          left join nearest as m on m.thread_id = c.thread_id and m.number = c.number + 1 and c.source = 'message'
          cross join all_texts as a
          cross join limits as l
          where c.matched is not null
            or c.similarity is not null
              and (c.similarity >= l.own or greatest(n.similarity, m.similarity) >= l.beside or o.words is not null
                   or c.source in ('document', 'artifact') or needs_ranks)
          offset 0) as w
        offset 0) as t
      offset 0) as f
    where p_min_relevance is null or coalesce(f.relevance, 1) >= p_min_relevance
  ), ranks as materialized (
    select s.user_id, s.source, s.id,
      case when s.similarity is not null then rank() over (order by s.similarity desc nulls last) end as by_meaning,
      case when s.words > 0 then rank() over (
        order by case when s.words > 0
                   then (s.logit - {{weight meaning}} * s.meaning - {{weight neighbour}} * s.neighbour)::real end
          desc nulls last) end as by_words,
      num_nonnulls((select a.highest from all_texts as a), nullif(max(s.words) over (), 0)) as arms
    from scored as s
    where needs_ranks
  ), fused as (
    select s.*, r.by_meaning, r.by_words,
      case fusion
        when 'vector' then s.similarity
        when 'rrf' then (coalesce(1.0 / (rrf_k + r.by_meaning), 0) + coalesce(1.0 / (rrf_k + r.by_words), 0))
          * (rrf_k + 1) / case when s.similarity is null then 1 else r.arms end
        else s.logit end as score
    from scored as s left join ranks as r on r.user_id = s.user_id and r.source = s.source and r.id = s.id
  ), best as materialized (
    select f.*
    from fused as f
    where f.source not in ('document', 'artifact')
      or (f.user_id, f.source, f.id) in ( -- of a document or an artifact the best piece
        select distinct on (p.user_id, p.source, substring(p.id from '^(.*)/')) p.user_id, p.source, p.id
        from fused as p where p.source in ('document', 'artifact')
        order by p.user_id, p.source, substring(p.id from '^(.*)/'), p.score desc, p.number)
    order by f.score desc nulls last, f.created_at desc, f.id collate "C" limit pool
  ), spoken as materialized (
    select b.*, m.role, m.name, use_weight * n.wrong_share as use,
      case when meant is not null and m.role is not null
        then memory._share_within(b.created_at, memory._zone_of(p_user_id, b.thread_id, b.number), meant) end as within
    from (
      select b.* from best as b
      where not is_judged or b.score >= coalesce((
        select p.score from best as p order by p.score desc offset p_row_limit - 1 limit 1) - most_changed, b.score)
      offset 0) as b
    left join lateral (
      select m.role, m.metadata ->> 'name' as name
      from memory.messages as m
      where is_judged and b.source = 'message'
        and m.user_id = p_user_id and m.thread_id = b.thread_id and m.seq = b.number
      offset 0 -- so that each message is looked up by its key
    ) as m on true
    left join lateral (
      select n.wrong / (n.wrong + n.helpful + 1)::double precision as wrong_share
      from memory.memory_uses as n
      where is_judged and use_weight > 0 and n.user_id = b.user_id
        and n.memory_id = case when b.source = 'memory' then b.id::uuid end and n.wrong > 0
      offset 0
    ) as n on true
  ), named as ( -- the speakers whom the query names
    select n.name from (select distinct s.name from spoken as s where s.name is not null offset 0) as n -- parsed once
    where memory._text_vector(language, left(n.name, 200)) @@ any_word
  ), judged as (
    select s.*,
      (s.name not in (select n.name from named as n) and exists (select from named))::int::double precision as speaker,
      case when max(s.within) over () > 0 then s.within - 1 end as day,
      (s.name is null and (s.role = 'user') = asks_the_assistant)::int::double precision as reply
    from spoken as s
  ), final as (
    select j.*, case when is_judged then 1 / (1 + exp(-l.logit)) else j.score end as result
    from judged as j
    cross join lateral (
      select j.logit + {{weight speaker}} * coalesce(j.speaker, 0) + {{weight day}} * coalesce(j.day, 0)
        + {{weight reply}} * coalesce(j.reply, 0) + {{weight use}} * coalesce(j.use, 0) as logit) as l
  )
  select row_number() over best_first, f.source, f.id, nullif(f.user_id, p_user_id), f.thread_id, f.number,
    f.created_at, memory._real(f.result),
    case when p_explain then jsonb_strip_nulls(jsonb_build_object(
      'vector', case when f.similarity is not null then jsonb_build_object(
        'rank', f.by_meaning, 'score', memory._real(f.similarity), 'model', p_model,
        'approximate', nullif(memories is not null and f.source = 'memory', false)) end,
      'keyword', case when f.words > 0 then jsonb_build_object(
        'rank', f.by_words, 'score', memory._real(f.words), 'terms', (
          select jsonb_object_agg(query_words[w.n], round(w.idf::numeric, 3))
          from weights as w where w.n = any (f.matched))) end,
      'fused', jsonb_build_object('by', fusion, 'score', memory._real(f.result)),
      'features', case when is_judged then jsonb_build_object(
        'meaning', memory._feature(f.meaning, {{weight meaning}}), 'words', memory._feature(f.words, {{weight words}}),
        'near', memory._feature(f.near, {{weight near}}), 'length', memory._feature(f.length, {{weight length}}),
        'neighbour', memory._feature(f.neighbour, {{weight neighbour}}),
        'speaker', memory._feature(f.speaker, {{weight speaker}}), 'day', memory._feature(f.day, {{weight day}}),
        'reply', memory._feature(f.reply, {{weight reply}}), 'use', memory._feature(f.use, {{weight use}}),
        'memory', memory._feature((f.source = 'memory')::int, {{weight memory}}),
        'summary', memory._feature((f.source = 'summary' and beside_messages)::int, {{weight summary}}),
        'intercept', memory._feature(1, {{weight intercept}})) end)) end,
    f.relevance
  from final as f
  where p_min_score is null or memory._real(f.result) >= memory._real(p_min_score)
  window best_first as (order by f.result desc, f.created_at desc, f.id collate "C")
  limit p_row_limit;
end;
$$;
