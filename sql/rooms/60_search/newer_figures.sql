-- needs pgvector on the search_path

-- The messages in which a person states a newer figure, with higher scores. If a person has stated a budget, a date or
-- a version several times, the newest statement counts, and its words are often far from the question: "the money is
-- 2,800 then". So a message of a person with a figure gets 0.8 of the score of an older message with a figure among the
-- ten best, if the two messages are nearer to each other than the older message is to the query. p_ids are messages of
-- persons, best first, with their similarities to the query and their scores. The function returns the messages that
-- gain, with their new scores. Of 239 requests about months of work with an assistant (bench/results/work.md),
-- recall@10 is 87.2 instead of 84.7 %; of the 31 that ask for such a figure, 77.4 instead of 67.7 %. Recall@10 of
-- LoCoMo and of the benchmark of languages stays the same, because their speakers hardly ever state a figure.
create or replace function memory._newer_figures(
  p_user_id text, p_model text, p_ids text[], p_similarities double precision[], p_scores double precision[]
)
returns table (id text, score double precision)
language sql stable parallel safe
begin atomic
  with figures as materialized (
    select row_number() over (order by b.place) as place, b.id, b.similarity, b.score, m.created_at, e.embedding
    from unnest(p_ids, p_similarities, p_scores) with ordinality as b (id, similarity, score, place)
    cross join lateral (
      select m.created_at, left(m.content, 2000) as said from memory.messages as m
      where m.user_id = p_user_id and m.thread_id = memory._thread_of(b.id) and m.seq = memory._seq_of(b.id)
      offset 0
    ) as m
    cross join lateral (
      select e.embedding from memory.embeddings as e
      where e.user_id = p_user_id and e.model = p_model and e.source = 'message' and e.id = b.id
      offset 0
    ) as e
    where cardinality(p_ids) > 1 and m.said ~ '[0-9]'
  )
  select n.id, max(0.8 * o.score)
  from figures as o
  join figures as n on n.created_at > o.created_at and n.score < 0.8 * o.score
  where o.place <= 10 and memory._cosine_similarity(n.embedding, o.embedding) >= o.similarity
  group by n.id;
end;
