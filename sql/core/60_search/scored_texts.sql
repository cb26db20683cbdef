-- The features of the candidates of a search, and their scores by those features that need no other table. All features
-- and their weights stand in weights.json, which the build puts in place of the names here and in judged_texts.sql.
--
-- meaning: how near the embedding of the text is to the best one, 1 for the best; the scale spans at least 0.3, so that
--   a tiny difference among a handful of texts decides nothing. Of a text without an embedding nothing is known, so it
--   stands in the middle, and higher the more of the query's words it has. All stand in the middle if no embedding is
--   compared.
-- words: the share of the query's words that the text has, each by its rarity (the idf of BM25) among all texts that
--   the search may see. So scores say nothing about the texts of other users, and no statistics need maintenance.
-- near: the share of words that only the two messages before and after have, 0.6 or 0.4 of it and less the longer they
--   are; a word that most texts have does not count. A message with a word stays before the messages around it.
-- neighbour: how near the better neighbour in the thread is by meaning, as far as the message is not near itself.
-- length: the logarithm of the number of different words, up to 100.
-- memory, summary: whether the text is one. Memories have no neighbours; a summary beside messages repeats them.
--
-- memory._candidates() puts the messages of a thread next to each other in their order. So the neighbours of a message
-- are its neighbours in the arrays, where a place is found in a tenth of the time of a join. p_texts, p_highest and
-- p_lowest are those of memory._candidates(); p_frequencies are estimates of the number of messages that have each
-- word, null where all messages are candidates. The result has the best p_limit texts, in any order, and of a document
-- or an artifact the best piece; with p_needs_ranks all texts, with their ranks by meaning and by words.
create or replace function memory._scored_texts(
  p_chosen memory._candidate[], p_words text[], p_frequencies bigint[], p_texts bigint, p_highest double precision,
  p_lowest double precision, p_fusion text, p_rrf_k int, p_needs_ranks boolean, p_beside_messages boolean,
  p_nothing_below double precision, p_min_relevance real, p_limit int
)
returns memory._scored[]
language plpgsql stable parallel safe
as $$
declare
  words_as_queries constant tsquery[] := array(select quote_literal(w)::tsquery from unnest(p_words) as w);
  -- Cosines of a model that finds something in common in all texts lie close together. 0.2 is the floor of the model
  -- that the weights were fitted with.
  span constant double precision := greatest(p_highest - p_lowest, 0.375 * (1 - coalesce(p_nothing_below, 0.2)));
  -- By the place of a candidate. A candidate that is no message has no thread and no number, so it has no neighbours.
  thread_ids text[];
  numbers bigint[];
  meanings double precision[];
  have_pieces boolean;
  scored memory._scored[];
begin
  select
    array_agg(case when c.source = 'message' then c.thread_id end),
    array_agg(case when c.source = 'message' then c.number end),
    array_agg(case when c.similarity is not null then greatest(1 - (p_highest - c.similarity) / span, 0) end),
    bool_or(c.source in ('document', 'artifact'))
  into thread_ids, numbers, meanings, have_pieces
  from unnest(p_chosen) as c;

  scored := array(
    with matches as materialized (
      select c.place, c.source, w.n, w.frequency, ln(20) / ln(8 + greatest(c.lexemes, 12)) as density
      from unnest(p_chosen) with ordinality
        as c (source, id, thread_id, number, created_at, similarity, vector, lexemes, place)
      cross join unnest(words_as_queries, p_frequencies) with ordinality as w (as_query, frequency, n)
      where c.vector is not null and c.vector @@ w.as_query
    ), weights as materialized (
      select f.n, memory._idf(p_texts, f.found) as idf, f.found * 2 <= p_texts as is_rare
      from (
        select m.n, greatest(count(*), count(*) filter (where m.source <> 'message') + max(m.frequency)) as found
        from matches as m
        group by m.n) as f
    ), asked as materialized ( -- words that no text has count too: a text with half of the words is no perfect match
      select sum(w.idf) + (cardinality(p_words) - count(*)) * memory._idf(p_texts, 0) as idf from weights as w
    ), worded as materialized (
      select v.place, sum(v.idf) / (select q.idf from asked as q) as words,
        sum(greatest(v.around - coalesce(v.density, 0), 0)) / (select q.idf from asked as q) as near,
        case when p_needs_ranks then jsonb_object_agg(p_words[v.n], round(v.idf::numeric, 3))
          filter (where v.idf is not null) end as terms
      from (
        select m.place + o.step as place, m.n, max(w.idf) filter (where o.step = 0) as idf,
          max(w.idf * m.density) filter (where o.step = 0) as density,
          max(w.idf * m.density * case abs(numbers[m.place + o.step] - numbers[m.place]) when 1 then 0.6 else 0.4 end)
            filter (where o.step <> 0) as around
        from matches as m
        join weights as w on w.n = m.n
        cross join unnest(case m.source when 'message' then '{0,-1,1,-2,2}'::int[] else '{0}' end) as o (step)
        where o.step = 0
          or w.is_rare and abs(numbers[m.place + o.step] - numbers[m.place]) <= 2
            and thread_ids[m.place + o.step] = thread_ids[m.place]
        group by m.place + o.step, m.n
      ) as v
      group by v.place
    )
    select row(f.source, f.id, f.thread_id, f.number, f.created_at, f.similarity, f.terms, null, null, f.words,
               f.meaning, f.near, f.neighbour, f.length, null, null, null, null, f.relevance,
               case p_fusion when 'vector' then f.similarity else f.logit end)::memory._scored
    from (
      select f.*,
        {{weight intercept}} + {{weight meaning}} * f.meaning + {{weight words}} * coalesce(f.words, 0)
          + {{weight near}} * f.near + {{weight neighbour}} * f.neighbour + {{weight length}} * f.length
          + case f.source when 'memory' then {{weight memory}}
              when 'summary' then case when p_beside_messages then {{weight summary}} else 0 end else 0 end as logit
      from (
        select c.source, c.id collate "C" as id, c.thread_id, c.number, c.created_at, c.similarity, k.terms,
          case when p_words is not null then coalesce(k.words, 0) end as words, coalesce(k.near, 0) as near,
          case when p_highest is null then 0.5 else coalesce(meanings[c.place], (1 + k.words) / 2) end as meaning,
          coalesce(greatest(
              case when numbers[c.place - 1] = numbers[c.place] - 1 and thread_ids[c.place - 1] = c.thread_id
                then meanings[c.place - 1] end,
              case when numbers[c.place + 1] = numbers[c.place] + 1 and thread_ids[c.place + 1] = c.thread_id
                then meanings[c.place + 1] end) * (1 - coalesce(meanings[c.place], (1 + k.words) / 2)), 0) as neighbour,
          ln(1 + least(coalesce(c.lexemes, 20), 100)) as length,
          memory._relevance(c.similarity, case when p_words is not null then coalesce(k.words, 0) end,
                            p_nothing_below) as relevance
        from unnest(p_chosen) with ordinality
          as c (source, id, thread_id, number, created_at, similarity, vector, lexemes, place)
        left join worded as k on k.place = c.place
        -- A text without a word of the query and without an embedding is there for its neighbours only.
        where c.similarity is not null or k.words is not null
      ) as f
      where p_min_relevance is null or coalesce(f.relevance, 1) >= p_min_relevance
    ) as f
    order by case p_fusion when 'vector' then f.similarity else f.logit end desc nulls last, f.created_at desc, f.id
    limit case when not (p_needs_ranks or have_pieces) then p_limit end);

  if p_needs_ranks then
    scored := array(
      select row(r.source, r.id, r.thread_id, r.number, r.created_at, r.similarity, r.terms, r.vector_rank,
                 r.keyword_rank, r.words, r.meaning, r.near, r.neighbour, r.length, null, null, null, null, r.relevance,
                 case p_fusion
                   when 'rrf' then (coalesce(1.0 / (p_rrf_k + r.vector_rank), 0)
                                    + coalesce(1.0 / (p_rrf_k + r.keyword_rank), 0)) * (p_rrf_k + 1)
                     / case when r.similarity is null then 1 else r.arms end
                   else r.score end)::memory._scored
      from (
        select s.*, num_nonnulls(p_highest, nullif(max(s.words) over (), 0)) as arms
        from (
          select u.source, u.id, u.thread_id, u.number, u.created_at, u.similarity, u.terms, u.words, u.meaning, u.near,
            u.neighbour, u.length, u.relevance, u.score,
            case when u.similarity is not null then rank() over (order by u.similarity desc nulls last) end
              as vector_rank,
            case when u.words > 0 then rank() over (
              order by case when u.words > 0
                         then (u.score - {{weight meaning}} * u.meaning - {{weight neighbour}} * u.neighbour)::real end
                desc nulls last) end as keyword_rank
          from unnest(scored) as u) as s) as r);
  end if;
  if have_pieces then -- Of a document or an artifact only the best piece is a result.
    scored := array(
      select s.text
      from (
        select u as text, row_number() over (
            partition by u.source, case when u.source in ('document', 'artifact') then substring(u.id from '^(.*)/')
                                     else u.id end collate "C", u.thread_id
            order by u.score desc, u.number) as piece
        from unnest(scored) as u) as s
      where s.piece = 1);
  end if;
  return scored;
end;
$$;
