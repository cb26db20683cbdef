-- needs pgvector on the search_path

-- The ranking of memory._ranked(), in which memories move by their uses (memory.record_use()) while policy
-- search.use_weight is above 0. A search by meaning alone does not come here, because its scores are cosines.
--
-- The function orders twice as many texts as the caller wants, because a text from further behind is no near tie. Use
-- moves a memory by less than the weight. So a memory that nobody has used loses no place to a used memory whose score
-- is lower by the weight or more.
create or replace function memory._ranked_by_use(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_mode text, p_settings jsonb,
  p_sources text[], p_row_limit int, p_filters memory._search_filters, p_min_score double precision, p_explain boolean
)
returns setof memory.ranking
language plpgsql stable parallel unsafe
as $$
declare
  weight constant double precision := memory._share(p_settings ->> 'use_weight');
begin
  return query
  select row_number() over best_first, b.source, b.id, b.thread_id, b.number, b.created_at, memory._real(s.score),
    b.explanation
  from (
    select r.rank, r.source, r.id, r.thread_id, r.number, r.created_at,
      r.score + weight * coalesce(u.prior, 0) as score,
      case when u.explanation is null then r.explanation
        else r.explanation || jsonb_build_object('use', u.explanation) end as explanation
    from memory._ranked(
      p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
      p_mode => p_mode, p_settings => p_settings - 'use_weight', p_sources => p_sources,
      p_row_limit => 2 * p_row_limit, p_filters => p_filters, p_explain => p_explain) as r
    left join lateral (
      select memory._use_prior(n) as prior,
        jsonb_build_object('used', n.used, 'helpful', n.helpful, 'wrong', n.wrong) as explanation
      from memory.memory_uses as n
      where n.user_id = p_user_id and n.memory_id = case when r.source = 'memory' then r.id::uuid end
      offset 0 -- so that each is looked up by its key
    ) as u on true
  ) as b
  cross join lateral (select least(greatest(b.score, 0), 1) as score) as s
  where p_min_score is null or memory._real(s.score) >= memory._real(p_min_score)
  window best_first as (order by b.score desc, b.rank)
  limit p_row_limit;
end;
$$;

-- What the uses of a memory say about it, from -1 (wrong) over 0 (nothing) to 1 (helpful): the mean of a Beta
-- distribution (Laplace's rule of succession with four imagined outcomes, half of them good), stretched from 0..1 to
-- -1..1. A use of which nothing more is known counts a quarter of a helpful use. The imagined outcomes weigh more as
-- _recency() of the last use falls.
create or replace function memory._use_prior(p_use memory.memory_uses)
returns double precision
language sql stable parallel safe
begin atomic
  select ((p_use).helpful + (p_use).used / 4.0::double precision - (p_use).wrong)
    / ((p_use).helpful + (p_use).used / 4.0::double precision + (p_use).wrong
       + 4 / memory._recency((p_use).updated_at));
end;
