-- needs pgvector on the search_path

-- Changes a ranking where memories have ended or were replaced. A question about now gets the current value of the
-- attribute that it names, even if words and vectors do not find that value. In place of a message whose statement was
-- replaced, it gets the memory that replaced the statement. A message whose statement has ended, with nothing in its
-- place, comes last. A question about an earlier time gets the former values.
create or replace function memory._now_and_then(
  p_user_id text, p_agent_id text, p_query text, p_ranked memory.ranking[], p_filters memory._search_filters,
  p_sources text[]
)
returns memory.ranking[]
language plpgsql stable parallel safe
as $$
declare
  time_asked constant text := (p_filters).time_asked;
  has_memories constant boolean := 'memory' = any (p_sources);
  -- Whether the function may add memories to the ranking. With any filter but time_asked it may not, because it would
  -- add memories that the filter leaves out.
  is_free constant boolean := p_filters is null or time_asked is not null and row(
    (p_filters).thread_id, (p_filters).memory_types, (p_filters).tags_all, (p_filters).tags_any,
    (p_filters).exclude_tags, (p_filters).filter, (p_filters).min_confidence, (p_filters).created_after,
    (p_filters).created_before, (p_filters).doc_types, (p_filters).namespaces) is null;
  asked memory.memories[] := array[]::memory.memories[];
  former memory.memories[] := array[]::memory.memories[];
  best constant real := coalesce((select max(r.score) from unnest(p_ranked) as r), 1);
begin
  if (p_filters).as_of is not null or (p_filters).include_superseded
    or not exists (select from memory.memories as m where m.user_id = p_user_id) then
    return p_ranked;
  end if;
  if has_memories and is_free and p_query is not null then
    if time_asked is distinct from 'then' then
      asked := array(select m from memory._values_asked(p_user_id, p_agent_id, p_query, false, null, 3) as m);
    end if;
    if time_asked is not null then
      former := array(select m from memory._values_asked(p_user_id, p_agent_id, p_query, true, array(
        select r.id::uuid from unnest(p_ranked) as r where r.source = 'memory' order by r.rank limit 3), 3) as m);
    end if;
  end if;
  return array(
    with outdated as materialized (
      select o.thread_id || '/' || o.seq as id, o.successor
      from memory._outdated_messages(p_user_id,
        array(select r.thread_id from unnest(p_ranked) as r where r.source = 'message'),
        array(select r.number from unnest(p_ranked) as r where r.source = 'message')) as o
      where time_asked is null
    ), placed as (
      -- The values that the query asks for come first, even if the ranking has not found them. If only a verb in the
      -- past asks for former values, these come after the best two texts, because "What was my budget again?" means the
      -- present budget.
      select case when a.is_former and time_asked = 'past' then 1 else 0 end as part,
        2.5 + a.place / 100.0::double precision as place, 'memory' as source, (a.row).memory_id::text as id,
        null::text as space, null::text as thread_id, null::bigint as number, (a.row).created_at, best as score,
        null::jsonb as explanation, 1::real as relevance -- the query names the attribute
      from (
        select m as row, g as place, g > cardinality(asked) as is_former
        from generate_subscripts(asked || former, 1) as g
        cross join lateral (select (asked || former)[g] as m) as v) as a
      union all
      select case when o.id is not null and (o.successor is null or not has_memories) then 2 else 1 end, r.rank,
        case when s.memory_id is not null then 'memory' else r.source end, coalesce(s.memory_id::text, r.id),
        r.space, case when s.memory_id is null then r.thread_id end, case when s.memory_id is null then r.number end,
        coalesce(s.created_at, r.created_at), r.score, case when s.memory_id is null then r.explanation end,
        r.relevance
      from unnest(p_ranked) as r
      left join outdated as o on r.source = 'message' and o.id = r.id
      left join lateral memory._memories_by_ids(p_user_id, array[o.successor]) as s
        on has_memories and is_free and (p_agent_id is null or s.agent_id = p_agent_id)
    ), once as (
      select distinct on (p.source, p.id, p.space) p.*
      from placed as p order by p.source, p.id, p.space, p.part, p.place
    )
    select row(row_number() over (order by o.part, o.place), o.source, o.id, o.space, o.thread_id, o.number,
               o.created_at, o.score, coalesce(o.explanation, e.explanation), o.relevance)::memory.ranking
    from once as o
    left join lateral (
      select r.explanation from unnest(p_ranked) as r where r.source = o.source and r.id = o.id limit 1) as e on true
    order by o.part, o.place);
end;
$$;
