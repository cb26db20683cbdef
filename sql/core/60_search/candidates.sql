-- needs pgvector on the search_path

-- The texts that enter a ranking, from memory.texts: those with a word of the query, and the most similar others. Of
-- the sources p_whole all texts with an embedding enter, of the others the p_kept most similar. texts, highest and
-- lowest are about all texts that the search may see. The statements need the planner settings of memory._ranked(), so
-- only that function may call this function. They apply all filters, so no filter comes after a limit. In chosen the
-- messages of a thread stand next to each other, in their order.
create or replace function memory._candidates(
  p_user_id text, p_agent_id text, p_sources text[], p_filters memory._search_filters, p_words text[],
  p_any_word tsquery, p_language regconfig, p_model text, p_target halfvec, p_preselected memory._preselected,
  p_whole text[], p_kept int,
  out chosen memory._candidate[], out texts bigint, out highest double precision, out lowest double precision
)
language plpgsql stable parallel safe
as $$
declare
  unfiltered constant boolean := p_agent_id is null and p_filters is null; -- also true for a row of nulls
  looked_up constant text[] := case when not unfiltered then memory._looked_up(p_sources, p_filters) end;
  passing constant text[] := case when not unfiltered then memory._passing(p_user_id, looked_up, p_filters) end;
  unread memory._candidate[];
  found record; -- the columns of the result
  -- The embeddings that do not stand in memory.texts, because another model is the active one.
  are_behind constant boolean := p_target is not null
    and exists (select from memory.embeddings as e where e.user_id = p_user_id and e.model = p_model);
begin
  if p_any_word is not null then
    unread := memory._unread_candidates(p_user_id, p_agent_id, p_sources, p_filters, p_words, p_any_word, p_language);
  end if;
  with rows as ( -- read once, so not stored: with its embeddings a row is a kilobyte
    select t.* from memory.texts as t
    where t.user_id = p_user_id and t.source = any (
      case when p_preselected.ids is null then p_sources else array_remove(p_sources, 'message') end)
    union all
    select t.*
    from unnest(p_preselected.ids) as i (id)
    cross join lateral (
      select t.* from memory.texts as t
      where t.user_id = p_user_id and t.source = 'message' and t.id = i.id offset 0) as t
  ), texts as materialized (
    select t.source, t.id, t.thread_id, t.number, t.created_at,
      coalesce(case when t.model = p_model then memory._cosine_similarity(t.embedding, p_target) end,
               e.similarity) as similarity,
      case when t.words @@ p_any_word then t.words end as vector,
      case when p_any_word is not null then length(t.words) end as lexemes
    from rows as t
    left join (
      select b.source, b.id, memory._cosine_similarity(b.embedding, p_target) as similarity
      from memory.embeddings as b where are_behind and b.user_id = p_user_id and b.model = p_model
    ) as e on e.source = t.source and e.id = t.id
    where case when unfiltered then t.valid_until > statement_timestamp() else
      (t.valid_until > statement_timestamp() or t.source in ('memory', 'summary') and t.source = any (looked_up))
      and (p_agent_id is null or t.agent_id is null or t.agent_id = p_agent_id)
      and (p_filters.thread_id is null or t.thread_id = p_filters.thread_id)
      and (p_filters.exclude_thread_id is null or t.thread_id is distinct from p_filters.exclude_thread_id)
      and (p_filters.created_after is null or t.created_at > p_filters.created_after)
      and (p_filters.created_before is null or t.created_at < p_filters.created_before)
      and (p_filters.as_of is null or t.source in ('memory', 'summary') or t.created_at <= p_filters.as_of)
      and (t.source <> all (looked_up) or t.source || ' ' || t.id in (select p from unnest(passing) as p)) end
  ), least_kept as materialized ( -- of the sources that are not ranked whole
    select min(k.similarity) as similarity
    from (select t.similarity from texts as t
          where t.source <> all (p_whole) and t.similarity is not null
          order by t.similarity desc limit p_kept) as k
  )
  select array(
      select c.candidate
      from (
        select row(t.source, t.id, t.thread_id, t.number, t.created_at, t.similarity, t.vector, t.lexemes
            )::memory._candidate as candidate, t.source, t.thread_id, t.number
        from texts as t
        where t.vector is not null
          or t.similarity is not null
            and (t.source = any (p_whole) or t.similarity >= (select k.similarity from least_kept as k))
        union all
        select u, u.source, u.thread_id, u.number from unnest(unread) as u where u.vector is not null) as c
      order by c.source, c.thread_id collate "C", c.number) as chosen,
    count(*) + coalesce(cardinality(unread), 0) as texts, max(t.similarity) as highest, min(t.similarity) as lowest
  into found
  from texts as t;
  chosen := found.chosen;
  texts := greatest(found.texts, p_preselected.texts); -- an estimate where messages are preselected
  highest := found.highest;
  lowest := least(found.lowest, p_preselected.lowest);
end;
$$;

-- The sources whose texts a search with these filters has to look up in their own tables, because memory.texts does not
-- have what a filter asks for.
create or replace function memory._looked_up(p_sources text[], p_filters memory._search_filters)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select s from unnest(p_sources) as s
    where p_filters.filter is not null
      or case s
        when 'memory' then num_nonnulls(
          p_filters.memory_types, p_filters.tags_all, p_filters.tags_any, p_filters.exclude_tags,
          p_filters.min_confidence, p_filters.as_of, p_filters.include_superseded) > 0
        when 'summary' then p_filters.as_of is not null
        when 'document' then num_nonnulls(p_filters.doc_types, p_filters.namespaces) > 0
        else false end);
end;
$$;

-- The texts of those sources (p_looked_up) that pass, as source and id in one word.
create or replace function memory._passing(p_user_id text, p_looked_up text[], p_filters memory._search_filters)
returns text[]
language plpgsql stable parallel safe
as $$
declare
  passing text[] := array[]::text[];
begin
  {{each source:
  if '<source>' = any (p_looked_up) then
    passing := passing || array(select '<source> ' || p from memory._<source>_passing(p_user_id, p_filters) as p);
  end if;}}
  return passing;
end;
$$;
