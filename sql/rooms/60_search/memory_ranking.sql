-- needs pgvector on the search_path

-- Ranks memories for a search among memories alone without filters. The results equal those of the way of all sources,
-- in fewer steps: an embedding's row holds the time until which its memory may be found, so the statement joins only
-- memories with a word of the query with their embeddings. CPU for 1,000 memories with 384 dimensions, this way / the
-- way of all sources, PostgreSQL 15: vector 1.4 / 3.2 ms, keyword 1.8 / 2.6, hybrid 2.8 / 4.0. The steps have the same
-- names in both and share the formulas of scores.sql. They need the planner settings of memory._ranked(), so only that
-- function may call this function.
create or replace function memory._ranked_among_memories(
  p_user_id text, p_agent_id text, p_words text[], p_any_word tsquery, p_model text,
  p_target halfvec, p_fusion text, p_min_score double precision, p_row_limit int
)
returns setof memory.ranking
language plpgsql stable parallel safe
as $$
declare
  words_as_queries constant tsquery[] := array(select quote_literal(w)::tsquery from unnest(p_words) as w);
  texts bigint;
  highest double precision;
  lowest double precision;
  -- Memories with a word of the query. A memory's vector is null where the vector is too long for memories_recent_idx.
  matched_ids text[];
  matched_times timestamptz[];
  matched_vectors tsvector[];
  -- The memories among matched_ids that have an embedding.
  embedded_ids text[];
  embedded_similarities double precision[];
  -- Embeddings of memories without a word of the query.
  unmatched_ids text[];
  unmatched_times timestamptz[];
  unmatched_similarities double precision[];
begin
  if p_fusion = 'vector' then
    return query
    select row_number() over (order by t.similarity desc, t.created_at desc, t.id), 'memory', t.id, null::text,
      null::bigint, t.created_at, memory._real(t.similarity), null::jsonb
    from (
      select c.id collate "C" as id, c.created_at, c.similarity
      from (
        select e.*
        from memory._compared_memories(p_user_id, p_agent_id, p_model, p_target) as e
        offset 0 -- so that each embedding is compared once
      ) as c
      where c.similarity is not null
        and (p_min_score is null or memory._real(c.similarity) >= memory._real(p_min_score))
      order by c.similarity desc, c.created_at desc, c.id collate "C" limit p_row_limit
    ) as t;
    return;
  end if;

  if p_any_word is not null then
    -- The first branch reads memories_recent_idx alone, so it must not name a column that the index lacks. The second
    -- branch adds the memories whose vectors are too long for the index. Those vectors may have a gigabyte together, so
    -- a loop below reads them one by one.
    select count(*), array_agg(m.memory_id::text) filter (where m.matches),
      array_agg(m.created_at) filter (where m.matches), array_agg(m.vector) filter (where m.matches)
    into texts, matched_ids, matched_times, matched_vectors
    from (
      select v.memory_id, v.created_at, v.search_vector as vector, v.search_vector @@ p_any_word as matches
      from memory._valid_memories(p_user_id, p_agent_id) as v
      where v.search_vector is not null
      union all
      select v.memory_id, v.created_at, null, v.long_search_vector @@ p_any_word
      from memory._valid_memories(p_user_id, p_agent_id) as v
      where v.long_search_vector is not null
    ) as m;
  end if;

  if p_fusion <> 'keyword' then
    -- One pass collects all results in arrays. With a materialized CTE that three steps read, a search among 1,000
    -- memories takes 5 % longer.
    select max(c.similarity), min(c.similarity),
      array_agg(c.id) filter (where c.is_matched), array_agg(c.similarity) filter (where c.is_matched),
      array_agg(c.id) filter (where not c.is_matched), array_agg(c.created_at) filter (where not c.is_matched),
      array_agg(c.similarity) filter (where not c.is_matched)
    into highest, lowest, embedded_ids, embedded_similarities, unmatched_ids, unmatched_times, unmatched_similarities
    from (
      select e.*, e.id collate "C" in (select w.id collate "C" from unnest(matched_ids) as w (id)) as is_matched
      from memory._compared_memories(p_user_id, p_agent_id, p_model, p_target) as e
      offset 0 -- so that each embedding is compared once
    ) as c;
  end if;

  return query
  with matches as materialized (
    select t.place, w.word, memory._word_weight(t.vector, w.as_query) as weight
    from unnest(matched_ids, matched_vectors) with ordinality as m (id, short_vector, place)
    cross join lateral (
      select m.place,
        coalesce(m.short_vector, (
          select l.long_search_vector from memory.memories as l
          where l.user_id = p_user_id and l.memory_id = m.id::uuid)) as vector
      offset 0 -- so that a long vector is read once, not once per word
    ) as t
    cross join unnest(p_words, words_as_queries) as w (word, as_query)
    where t.vector @@ w.as_query
  ), weights as materialized (
    select m.word, memory._idf(texts, count(*)) as idf, avg(m.weight) as weight,
      count(*)::double precision / texts as frequency
    from matches as m
    group by m.word
  ), keywords as materialized (
    select m.place, sum(w.idf * m.weight) as score,
      sum(w.idf) / (
        select memory._query_idf(sum(f.idf), cardinality(p_words) - count(*), texts) from weights as f) as share
    from matches as m join weights as w on w.word = m.word
    group by m.place
  ), best as materialized (
    select k.score as keyword, memory._trust(k.share) as trust,
      (select memory._keyword_weight(k.score, sum(w.idf * w.weight * w.frequency),
         sum((w.idf * w.weight) ^ 2 * w.frequency * (1 - w.frequency)), texts) from weights as w) as weight
    from keywords as k
    order by k.score desc, k.share desc limit 1
  ), contenders as (
    select w.id collate "C" as id, w.created_at, c.similarity, k.score as keyword
    from unnest(matched_ids, matched_times) with ordinality as w (id, created_at, place)
    join keywords as k on k.place = w.place
    left join unnest(embedded_ids, embedded_similarities) as c (id, similarity) on c.id = w.id
    union all
    (select c.id collate "C", c.created_at, c.similarity, null
     from (select unnest(unmatched_ids) as id, unnest(unmatched_times) as created_at,
             unnest(unmatched_similarities) as similarity) as c
     where c.similarity is not null
     order by c.similarity desc, c.created_at desc, c.id collate "C" limit p_row_limit)
  ), scored as (
    select c.id, c.created_at,
      memory._fused_score(c.similarity, highest, lowest, c.keyword / b.keyword * b.trust, b.weight,
                          num_nonnulls(highest, b.keyword)) as score
    from contenders as c left join best as b on true
  ), top as (
    select s.* from scored as s
    where p_min_score is null or memory._real(s.score) >= memory._real(p_min_score)
    order by s.score desc, s.created_at desc, s.id limit p_row_limit
  )
  select row_number() over (order by t.score desc, t.created_at desc, t.id), 'memory', t.id, null::text, null::bigint,
    t.created_at, memory._real(t.score), null::jsonb
  from top as t;
end;
$$;

-- The memories that a search without filters may find, read from their embeddings alone: an embedding's row holds the
-- agent of its memory and the time until which the memory may be found.
create or replace function memory._compared_memories(
  p_user_id text, p_agent_id text, p_model text, p_target halfvec
)
returns table (id text, created_at timestamptz, similarity double precision)
language sql stable parallel safe
begin atomic
  select e.id, e.created_at, memory._cosine_similarity(e.embedding, p_target)
  from memory.embeddings as e
  where e.user_id = p_user_id and e.model = p_model and e.source = 'memory'
    and memory._dimensions(e.embedding) = memory._dimensions(p_target)
    and e.valid_until > statement_timestamp() and (p_agent_id is null or e.agent_id = p_agent_id);
end;
