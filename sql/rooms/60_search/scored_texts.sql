-- The best p_limit of the candidates of a search with their scores, in the form that ranking.sql describes. p_texts,
-- p_highest and p_lowest are those of memory._candidates(); p_frequencies are estimates of the number of messages that
-- have each word, null where all messages are candidates. If p_is_talk is true, the messages around a message count for
-- it. Of a document or an artifact the function returns the best piece.
create or replace function memory._scored_texts(
  p_chosen memory._candidate[], p_words text[], p_frequencies bigint[], p_texts bigint, p_highest double precision,
  p_lowest double precision, p_fusion text, p_rrf_k int, p_explain boolean, p_is_talk boolean,
  p_summary_weight double precision, p_limit int
)
returns memory._scored[]
language plpgsql stable parallel safe
as $$
declare
  needs_ranks constant boolean := p_explain or p_fusion = 'rrf';
  words_as_queries constant tsquery[] := array(select quote_literal(w)::tsquery from unnest(p_words) as w);
begin
  return array(
    with chosen as materialized (
      select f.place, f.source, f.id collate "C" as id, f.thread_id collate "C" as thread_id, f.number, f.created_at,
        f.similarity, f.vector
      from unnest(p_chosen) with ordinality
        as f (source, id, thread_id, number, created_at, similarity, vector, content, metadata, place)
    ), threads as materialized (
      -- begins + number is a number for each message: messages that follow each other in a thread have numbers that do.
      select d.thread_id, row_number() over () * 1000000000000 as begins
      from (select distinct c.thread_id from chosen as c where p_is_talk and c.source = 'message') as d
    ), matches as materialized (
      select c.place, c.source, c.thread_id, c.number, w.n, w.frequency,
        memory._word_weight(c.vector, w.as_query) as weight
      from chosen as c
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
    ), keywords as materialized (
      -- share: the idf of those words of the query that the text has, divided by the idf of all words of the query.
      select m.place, sum(w.idf * m.weight) as score,
        sum(w.idf) / (
          select memory._query_idf(sum(f.idf), cardinality(p_words) - count(*), p_texts) from weights as f) as share
      from matches as m join weights as w on w.n = m.n
      group by m.place
    ), around as (
      -- The sum over words of the greatest weight that a word has in a message or in one of the two before and after.
      select v.spot, sum(v.idf * v.weight) as score
      from (
        select t.begins + m.number + o.step as spot, w.idf, max(m.weight * o.share) as weight
        from matches as m
        join weights as w on w.n = m.n
        join threads as t on m.source = 'message' and t.thread_id = m.thread_id
        join (values (0, 1.0::double precision), (-1, 0.6), (1, 0.6), (-2, 0.4), (2, 0.4)) as o (step, share)
          on o.step = 0 or w.frequency <= 0.5
        group by t.begins + m.number + o.step, m.n, w.idf
      ) as v
      group by v.spot
    ), contenders as materialized (
      -- Few columns, because several steps read and write these rows.
      select c.place, c.spot, c.id, c.created_at, c.similarity, k.score as own, coalesce(a.score, k.score) as keyword,
        c.worth, c.whole, c.number
      from (
        select c.place, c.id, c.created_at, c.similarity, c.number,
          case when c.source = 'message' then t.begins + c.number end as spot,
          case c.source when 'summary' then p_summary_weight else 1 end as worth,
          case when c.source in ('document', 'artifact') then c.source || substring(c.id from '^(.*)/') end as whole
        from chosen as c left join threads as t on t.thread_id = c.thread_id) as c
      left join keywords as k on k.place = c.place
      left join around as a on a.spot = c.spot
      where num_nonnulls(c.similarity, k.score) > 0
    ), best as materialized (
      select h.keyword, memory._trust(k.share) as trust, num_nonnulls(p_highest, k.score) as arms,
        (select memory._keyword_weight(k.score, sum(w.idf * w.weight * w.frequency),
           sum((w.idf * w.weight) ^ 2 * w.frequency * (1 - w.frequency)), p_texts) from weights as w) as weight
      from (select max(c.keyword) as keyword from contenders as c) as h
      left join (select k.score, k.share from keywords as k order by k.score desc, k.share desc limit 1) as k on true
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
      select c.*,
        case p_fusion
          when 'vector' then c.similarity
          when 'keyword' then c.keyword / b.keyword * b.trust
          when 'rrf' then
            (coalesce(1.0 / (p_rrf_k + c.vector_rank), 0) + coalesce(1.0 / (p_rrf_k + c.keyword_rank), 0))
            * (p_rrf_k + 1) / case when c.similarity is null then 1 else b.arms end
          else memory._fused_score(
            c.similarity, p_highest, p_lowest, c.keyword / b.keyword * b.trust, b.weight, b.arms)
        end::double precision as score
      from ranked as c cross join best as b
    ), messages as (
      -- The planner takes this test for selective, so it hashes these few columns and not those of the other side.
      select s.spot, s.score from scored as s where s.spot > 0
    ), pool as (
      select p.*
      from (
        -- A message gains from its better neighbour.
        select s.*, greatest(b.score, a.score, 0) as neighbour,
          least(s.score + 0.4 * greatest(b.score, a.score, 0) * (1 - s.score), 1) * s.worth as gained
        from scored as s
        left join messages as b on b.spot = s.spot - 1
        left join messages as a on a.spot = s.spot + 1
        where s.spot is not null or s.whole is null
        union all
        -- Of a document or an artifact only the best piece is a result.
        select s.place, s.spot, s.id, s.created_at, s.similarity, s.own, s.keyword, s.worth, s.whole, s.number,
          s.vector_rank, s.keyword_rank, s.score, 0, least(s.score, 1)
        from (
          select s.*, row_number() over (partition by s.whole collate "C" order by s.score desc, s.number) as piece
          from scored as s
          where s.whole is not null) as s
        where s.piece = 1
      ) as p
      order by p.gained desc, p.created_at desc, p.id limit p_limit
    )
    select row(c.source, c.id, c.thread_id, c.number, c.created_at, p.similarity, p.keyword, k.terms, p.vector_rank,
               p.keyword_rank, p.keyword / b.keyword * b.trust,
               (p.keyword - coalesce(p.own, 0)) / b.keyword * b.trust,
               case when b.arms = 2 and p_fusion = 'score' then b.weight end, p.score, p.neighbour, null, null, null,
               null, p.gained)::memory._scored
    from pool as p
    join chosen as c on c.place = p.place
    cross join best as b
    left join (
      select m.place, jsonb_object_agg(p_words[m.n], round(w.idf::numeric, 3)) as terms
      from matches as m join weights as w on w.n = m.n
      where p_explain
      group by m.place) as k on k.place = p.place);
end;
$$;
