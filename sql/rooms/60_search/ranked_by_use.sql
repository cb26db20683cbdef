-- needs pgvector on the search_path

-- The ranking of memory._ranked(), in which memories that were wrong (memory.record_use()) have lower scores while
-- policy search.use_weight is above 0. A search by meaning alone does not come here, because its scores are cosines.
-- The function orders twice as many texts as the caller wants, so that others take the places of those that fall.
--
-- Of 24 questions about facts that change, the newer fact stands before the older in 54 instead of 12 %, after one
-- report that the older is wrong, with a weight of 0.2. No score rises: with a prior that rises with uses, recall@1 of
-- evidence that nobody had used fell by up to 3.7 points with a weight of 0.05, and recall of LoCoMo's other questions
-- rose at no weight (bench/results/uses.md).
create or replace function memory._ranked_by_use(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters, p_min_score double precision, p_explain boolean,
  p_spaces text[], p_agent_of_spaces text
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
as $$
declare
  weight constant double precision := memory._share(p_settings ->> 'use_weight');
begin
  return query
  select row_number() over best_first, b.source, b.id, b.thread_id, b.number, b.created_at, memory._real(b.score),
    b.explanation
  from (
    select r.rank, r.source, r.id, r.thread_id, r.number, r.created_at, r.score * coalesce(u.factor, 1) as score,
      r.explanation || jsonb_strip_nulls(jsonb_build_object('use', memory._real(u.factor))) as explanation
    from memory._ranked(
      p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
      p_mode => p_mode, p_settings => p_settings - 'use_weight', p_sources => p_sources,
      p_row_limit => 2 * p_row_limit, p_filters => p_filters, p_explain => p_explain, p_spaces => p_spaces,
      p_agent_of_spaces => p_agent_of_spaces) as r
    left join lateral (
      -- How likely a memory is wrong by what was recorded of it: the mean of a Beta distribution of its wrong and
      -- helpful outcomes (Laplace's rule of succession, with one imagined helpful outcome and no imagined wrong one).
      -- A use of which nothing more is known says nothing.
      select 1 - weight * n.wrong / (n.wrong + n.helpful + 1)::double precision as factor
      from memory.memory_uses as n
      where n.user_id = coalesce(case when p_spaces is not null then r.thread_id end, p_user_id) -- see memory.ranking
        and n.memory_id = case when r.source = 'memory' then r.id::uuid end and n.wrong > 0
      offset 0 -- so that each is looked up by its key
    ) as u on true
  ) as b
  where p_min_score is null or memory._real(b.score) >= memory._real(p_min_score)
  window best_first as (order by b.score desc, b.rank)
  limit p_row_limit;
end;
$$;
