-- The best p_limit of the candidates of a search with their scores, in the form that ranking.sql describes, in any
-- order. p_texts, p_highest and p_lowest are those of memory._candidates(); p_frequencies are estimates of the number
-- of messages that have each word, null where all messages are candidates. If p_is_talk is true, the messages around a
-- message count for it. Of a document or an artifact the function returns the best piece.
--
-- memory._candidates() puts the messages of a thread next to each other in their order. So the neighbours of a message
-- are its neighbours in the arrays, where a place is found in a tenth of the time of a join.
create or replace function memory._scored_texts(
  p_chosen memory._candidate[], p_words text[], p_frequencies bigint[], p_texts bigint, p_highest double precision,
  p_lowest double precision, p_fusion text, p_rrf_k int, p_explain boolean, p_is_talk boolean,
  p_summary_weight double precision, p_limit int
)
returns memory._scored[]
language plpgsql stable parallel safe
as $$
declare
  words_as_queries constant tsquery[] := array(select quote_literal(w)::tsquery from unnest(p_words) as w);
  -- By the place of a candidate. A candidate that is no message has no thread and no number, so it has no neighbours.
  thread_ids text[];
  numbers bigint[];
  similarities double precision[];
  scores double precision[];
  keywords double precision[]; -- with the words of the messages around
  own_keywords double precision[];
  vector_ranks bigint[];
  keyword_ranks bigint[];
  terms jsonb[]; -- the idf of each of its words, for an explanation
  worded record; -- the same of the candidates with keywords, and what the query's words tell about all texts
  have_pieces boolean;
begin
  select
    array_agg(case when p_is_talk and c.source = 'message' then c.thread_id end),
    array_agg(case when p_is_talk and c.source = 'message' then c.number end),
    array_agg(c.similarity), bool_or(c.source in ('document', 'artifact'))
  into thread_ids, numbers, similarities, have_pieces
  from unnest(p_chosen) as c;

  with matches as materialized (
    select c.place, c.source, w.n, w.frequency, memory._word_weight(c.vector, w.as_query) as weight
    from unnest(p_chosen) with ordinality
      as c (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
    cross join unnest(words_as_queries, p_frequencies) with ordinality as w (as_query, frequency, n)
    where c.vector is not null and c.vector @@ w.as_query
  ), weights as materialized (
    select f.n, f.weight, memory._idf(p_texts, f.found) as idf,
      least(f.found::double precision / p_texts, 1) as frequency
    from (
      select m.n, avg(m.weight) as weight,
        greatest(count(*), count(*) filter (where m.source <> 'message') + max(m.frequency)) as found
      from matches as m
      group by m.n) as f
  ), around as materialized (
    -- keyword: the sum over words of the greatest weight that a word has in a message or in one of the two before and
    -- after; own: the sum of the text's own words; idf: the sum of the idf of its own words.
    select v.place, sum(v.weight) as keyword, sum(v.own) as own, sum(v.idf) as idf
    from (
      select m.place + o.step as place,
        -- A text of no thread, whose distance from itself is null, has all of the weight of its own words.
        max(w.idf * (m.weight * case abs(numbers[m.place + o.step] - numbers[m.place])
                                  when 1 then 0.6::double precision when 2 then 0.4 else 1 end)) as weight,
        max(w.idf * m.weight) filter (where o.step = 0) as own, max(w.idf) filter (where o.step = 0) as idf
      from matches as m
      join weights as w on w.n = m.n
      cross join (values (0), (-1), (1), (-2), (2)) as o (step)
      where o.step = 0
        or w.frequency <= 0.5 and abs(numbers[m.place + o.step] - numbers[m.place]) <= 2
          and thread_ids[m.place + o.step] = thread_ids[m.place]
      group by m.place + o.step, m.n
    ) as v
    group by v.place
    -- A text whose own words do not match is a candidate only by its similarity.
    having num_nonnulls(sum(v.own), similarities[v.place]) > 0
  ), best as materialized (
    -- share: the idf of those words of the query that the text has, divided by the idf of all words of the query.
    select a.own as keyword,
      a.idf / (
        select memory._query_idf(sum(w.idf), cardinality(p_words) - count(*), p_texts) from weights as w) as share
    from around as a
    where a.own is not null
    order by a.own desc, a.idf desc limit 1
  )
  select array_agg(a.place) as places, array_agg(a.keyword) as keywords, array_agg(a.own) as own,
    max(a.keyword) as highest, memory._trust((select b.share from best as b)) as trust,
    num_nonnulls(p_highest, (select b.keyword from best as b)) as arms,
    (select memory._keyword_weight((select b.keyword from best as b), sum(w.idf * w.weight * w.frequency),
       sum((w.idf * w.weight) ^ 2 * w.frequency * (1 - w.frequency)), p_texts) from weights as w) as weight,
    array_agg(t.terms) as terms
  into worded
  from around as a
  left join (
    select m.place, jsonb_object_agg(p_words[m.n], round(w.idf::numeric, 3)) as terms
    from matches as m join weights as w on w.n = m.n
    where p_explain
    group by m.place) as t on t.place = a.place;

  if p_explain or p_fusion = 'rrf' then
    select array_agg(r.vector_rank order by r.place), array_agg(r.keyword_rank order by r.place),
      array_agg(r.terms order by r.place)
    into vector_ranks, keyword_ranks, terms
    from (
      select c.place, k.terms,
        case when c.similarity is not null then rank() over (order by c.similarity desc nulls last) end as vector_rank,
        case when k.keyword is not null then rank() over (order by k.keyword desc nulls last) end as keyword_rank
      from unnest(similarities) with ordinality as c (similarity, place)
      left join unnest(worded.places, worded.keywords, worded.terms) as k (place, keyword, terms) on k.place = c.place
    ) as r;
  end if;
  select array_agg(s.score), array_agg(s.keyword), array_agg(s.own) into scores, keywords, own_keywords
  from (
    select k.keyword, k.own,
      -- A text without a word of the query and without an embedding keeps its place for its neighbours, but no score.
      case case when num_nonnulls(c.similarity, k.keyword) > 0 then p_fusion end
        when 'vector' then c.similarity
        when 'keyword' then k.keyword / worded.highest * worded.trust
        when 'rrf' then
          (coalesce(1.0 / (p_rrf_k + vector_ranks[c.place]), 0) + coalesce(1.0 / (p_rrf_k + keyword_ranks[c.place]), 0))
          * (p_rrf_k + 1) / case when c.similarity is null then 1 else worded.arms end
        when 'score' then memory._fused_score(
          c.similarity, p_highest, p_lowest, k.keyword / worded.highest * worded.trust, worded.weight, worded.arms)
      end::double precision as score
    from unnest(similarities) with ordinality as c (similarity, place)
    left join unnest(worded.places, worded.keywords, worded.own) as k (place, keyword, own) on k.place = c.place
    order by c.place) as s;

  return array(
    select row(p.source, p.id, p.thread_id, p.number, p.created_at, p.similarity, keywords[p.place], terms[p.place],
               vector_ranks[p.place], keyword_ranks[p.place], keywords[p.place] / worded.highest * worded.trust,
               (keywords[p.place] - coalesce(own_keywords[p.place], 0)) / worded.highest * worded.trust,
               case when worded.arms = 2 and p_fusion = 'score' then worded.weight end, p.score, p.neighbour, null,
               null, null, null, p.gained)::memory._scored
    from (
      select p.*
      from (
        -- A message gains from its better neighbour.
        select s.*, least(s.score + 0.4 * s.neighbour * (1 - s.score), 1)
            * case s.source when 'summary' then p_summary_weight else 1 end as gained
        from (
          select c.source, c.id collate "C" as id, c.thread_id, c.number, c.created_at, c.similarity, c.place,
            scores[c.place] as score,
            greatest(
              case when numbers[c.place - 1] = numbers[c.place] - 1 and thread_ids[c.place - 1] = c.thread_id
                then scores[c.place - 1] end,
              case when numbers[c.place + 1] = numbers[c.place] + 1 and thread_ids[c.place + 1] = c.thread_id
                then scores[c.place + 1] end, 0) as neighbour
          from unnest(p_chosen) with ordinality
            as c (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
          where c.source not in ('document', 'artifact') and scores[c.place] is not null
          offset 0 -- so that each score is looked up once
        ) as s
        union all
        -- Of a document or an artifact only the best piece is a result.
        select b.source, b.id, b.thread_id, b.number, b.created_at, b.similarity, b.place, b.score, 0, least(b.score, 1)
        from (
          select s.*, row_number() over (
              partition by (s.source || substring(s.id from '^(.*)/')) collate "C" order by s.score desc, s.number
            ) as piece
          from (
            select c.source, c.id collate "C" as id, c.thread_id, c.number, c.created_at, c.similarity, c.place,
              scores[c.place] as score
            from unnest(p_chosen) with ordinality
              as c (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
            where c.source in ('document', 'artifact') and scores[c.place] is not null and have_pieces
          ) as s) as b
        where b.piece = 1
      ) as p
      order by p.gained desc, p.created_at desc, p.id limit p_limit
    ) as p);
end;
$$;
