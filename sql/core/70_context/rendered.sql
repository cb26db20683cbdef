-- needs pgvector on the search_path

-- What stands where in a context, by the two layouts (policy context.layout):
--
--   place  cached                before, at the place
--    0     instructions          message         0  the system messages that begin the thread, then the paragraph on
--                                                   placeholders
--    2     user_summary          user_summary    2
--    3     memories                                 memories about the user that stand in every context
--    4     cross_session         cross_session   4  earlier conversations, if the policy allows them and the query asks
--    5     recalled              recalled           the whole history, while it is short enough for the policy
--    6, 7  thread_summary        thread_summary  6  the summary of the whole thread, then the rolling one
--    8     message, recalled     message         8  the newest messages of the thread, with what stays recalled
--    9     memories              memories        1  memories that the question asks for
--   10     recalled              recalled        3  earlier messages about the query
--   11     recalled              recalled        5  what the query needs of artifacts that the thread names
--   12     message               message         8  the newest message of the user, and what follows
--
-- In the layout cached, each part changes less often than the parts after it, so that a provider that caches the
-- beginning of prompts finds most of a prompt in its cache: what belongs to this question comes last.
create or replace function memory._rendered(p_asking memory._asking, p_offers memory._offer[])
returns setof memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  is_cached constant boolean := p_asking.layout = 'cached';
begin
  return query
  select (row_number() over (order by l.place, o.seq, o.source = 'message', o.number))::int,
    case when is_cached and o.source <> 'message' and o.place between 8 and 11
      then p_asking.policy #>> '{context,volatile_role}' else o.role end,
    -- In recalled and summarised texts the placeholders of the user's artifacts work again.
    case when o.source in ('message', 'instructions') then o.content
      else memory._with_own_refs(p_asking.user_id, o.content) end,
    case when is_cached and o.place = 0 then 'instructions' else o.source end, o.token_count,
    o.metadata || jsonb_build_object('cache', case
      when o.place in (0, 2, 5) or is_cached and o.place = 3 then 'stable'
      when o.place in (4, 9, 10, 11) then 'volatile' else 'thread' end)
  from unnest(p_offers) with ordinality
    as o (place, seq, source, id, role, content, token_count, metadata, why_not, kind, said_at, number)
  cross join lateral (
    select case when is_cached or o.place < 9 then o.place else (array[1, 3, 5, 8])[o.place - 8] end as place) as l
  where o.why_not is null
  order by 1;
  if p_asking.explains then
    return query
    select null::int, 'system', d.details::text, g.source, g.tokens, d.details
    from (
      -- A memory that is no standing one may be asked for.
      select l.source, l.why_not, min(l.number) as place, sum(l.token_count)::int as tokens, count(l.id) as things,
        coalesce(array_agg(l.id order by l.number) filter (where l.id is not null), '{}') as ids
      from unnest(p_offers) with ordinality
        as l (place, seq, source, id, role, content, token_count, metadata, why_not, kind, said_at, number)
      where l.why_not is not null and not exists (
        select from unnest(p_offers) as s
        where l.source = 'memories' and s.source = 'memories' and s.why_not is null
          and s.metadata @? format('$.memories[*].memory_id ? (@ == "%s")', l.id)::jsonpath)
      group by 1, 2) as g
    cross join lateral (
      select jsonb_build_object(
        'source', g.source, 'reason', g.why_not, 'tokens', g.tokens, 'count', g.things, 'ids', g.ids[:1000]) as details
    ) as d
    order by g.place;
  end if;
end;
$$;

-- Something that a context leaves out, and why.
create or replace function memory._left_out(p_source text, p_why_not text, p_tokens int, p_id text default null)
returns memory._offer
language sql immutable parallel safe
begin atomic
  select row(null, null, p_source, p_id, null, null, p_tokens, null, p_why_not, null, null)::memory._offer;
end;

-- The tokens of what is shown.
create or replace function memory._shown_tokens(p_offers memory._offer[])
returns int
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(sum(o.token_count), 0) from unnest(p_offers) as o where o.why_not is null;
end;
$$;
