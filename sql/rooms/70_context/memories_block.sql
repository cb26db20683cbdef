-- needs pgvector on the search_path

-- The block of memories for a prompt, and the chosen memories with their scores. A memory of a space begins with its
-- name in brackets. The block is an empty text when no
-- memory is chosen, and null when there are no memories.
--
-- p_recalled are messages that the context shows besides. A memory and its source messages do not both take tokens. If
-- p_recalled has all source messages of a memory and one of these messages says more than the memory, the block leaves
-- the memory out (is_recalled). If a message says no more than a chosen memory, the caller leaves that message out
-- (repeated).
create or replace function memory._render_memories(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb, p_max_memories int,
  p_max_tokens int, p_recalled memory._recalled[] default '{}', p_spaces text[] default null,
  out block text, out chosen jsonb, out repeated text[], out is_recalled boolean, out left_out jsonb[]
)
language plpgsql stable parallel unsafe
as $$
declare
  memory record;
  types text[] := array[]::text[];
  times timestamptz[];
  ids uuid[];
  lines text[];
  tokens int := memory._tokens_at_most(memory._heading_of('memories'));
  added int := 0;
  wordings text[];
  keys text[]; -- three keys for each wording
  wording text;
  same int;
  sources int[];
begin
  chosen := '[]';
  repeated := array[]::text[];
  left_out := '{}';
  is_recalled := false;
  if p_spaces is null and not exists (select from memory._valid_memories(p_user_id, p_agent_id) as m) then
    return;
  end if;
  wordings := array(select r.wording from unnest(p_recalled) as r);
  keys := array(select unnest(r.keys) from unnest(p_recalled) as r);
  -- The loop adds memories in the order of their ranks and skips a memory that does not fit. The loop counts numbers
  -- and headings too, so that the whole block keeps the limit.
  for memory in
    select m.*, coalesce(t.heading, m.memory_type) as heading,
      memory._memory_line(case when m.space is null then m.content else '[' || m.space || '] ' || m.content end) as line
    from memory._rank_memories(
      p_user_id, p_agent_id, p_query, p_model, p_target, p_policy, p_max_memories, p_spaces) as m
    left join memory.memory_types as t on t.memory_type = m.memory_type
    order by m.rank
  loop
    if p_max_tokens is not null then
      added := memory._tokens_at_most(e'\n12. ' || memory.line)
        + case when memory.memory_type = any (types) then 0
               else memory._tokens_at_most(e'\n\n**:**' || memory._memory_line(memory.heading)) end;
    end if;
    if p_max_tokens is null or tokens + added <= p_max_tokens then
      tokens := tokens + added;
      if cardinality(p_recalled) > 0 then
        wording := memory._wording(memory.content);
        same := memory._same_wording(wording, memory._wording_keys(wording), wordings, keys);
        -- The places of its source messages among p_recalled, or none if one of the source messages is missing there.
        sources := (
          select case when count(*) = max(cardinality(m.source_seqs)) then array_agg(r.place::int) end
          from memory.memories as m
          cross join lateral (
            select row_number() over () as place, c.thread_id, c.seq from unnest(p_recalled) as c) as r
          where m.user_id = p_user_id and m.memory_id = memory.memory_id and memory.space is null
            and r.thread_id = m.thread_id and r.seq = any (m.source_seqs));
        if exists (select from unnest(sources) as s where not memory._says_no_more(wordings[s], wording)) then
          is_recalled := true;
          left_out := left_out || memory._left_out(
            'memories', 'the recalled messages say it', added, memory.memory_id::text);
          continue; -- No other memory takes its place, because its source messages use its tokens.
        end if;
        repeated := repeated || array(
          select (p_recalled[s]).thread_id || '/' || (p_recalled[s]).seq
          from unnest(sources || same) as s where s is not null);
      end if;
      types := types || memory.memory_type;
      times := times || memory.stated_at;
      ids := ids || memory.memory_id;
      lines := lines || memory.line;
      chosen := chosen || jsonb_build_object(
        'memory_id', memory.memory_id, 'score', memory.score, 'relevance', memory.relevance,
        'importance', memory.importance, 'recency', memory.recency);
      if p_spaces is not null then
        chosen := jsonb_set(chosen, '{-1,space}', coalesce(to_jsonb(memory.space), 'null'));
      end if;
    else
      left_out := left_out || memory._left_out('memories', 'does not fit', added, memory.memory_id::text);
    end if;
  end loop;

  -- The block shows memories in the order in which they were said: of two statements that disagree the later one is
  -- newer.
  select coalesce(memory._heading_of('memories') || e'\n\n'
    || string_agg(g.block, e'\n\n' order by g.position, g.memory_type), '')
  into block
  from (
    select n.memory_type, t.position,
      '**' || memory._memory_line(coalesce(t.heading, n.memory_type)) || e':**\n'
        || string_agg(n.number || '. ' || n.line, e'\n' order by n.number) as block
    from (
      select c.memory_type, c.line,
        row_number() over (partition by c.memory_type order by c.stated_at, c.memory_id) as number
      from unnest(types, times, ids, lines) as c (memory_type, stated_at, memory_id, line)
    ) as n
    left join memory.memory_types as t on t.memory_type = n.memory_type
    group by n.memory_type, t.position, t.heading
  ) as g;
end;
$$;

-- The most useful memories for a prompt, ranked by relevance to the query, importance and recency. The policy sets the
-- weights of the three, as in Park et al., "Generative Agents" (2023). Recency halves with every 30 days since the
-- memory was last said.
create or replace function memory._rank_memories(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb, p_max_memories int,
  p_spaces text[]
)
returns table (
  rank bigint, memory_id uuid, memory_type text, content text, stated_at timestamptz, score real, relevance real,
  importance real, recency real, space text
)
language plpgsql stable parallel unsafe
set jit = off -- this and the next setting as in memory._ranked()
set enable_nestloop = off
set enable_mergejoin = off
set enable_seqscan = off
set enable_bitmapscan = off
set max_parallel_workers_per_gather = 0
set plan_cache_mode = force_generic_plan
as $$
declare
  weights constant jsonb := p_policy -> 'context';
  relevance_weight constant double precision :=
    case when p_query is null and p_target is null then 0 else memory._share(weights ->> 'relevance_weight') end;
  importance_weight constant double precision := memory._share(weights ->> 'importance_weight');
  recency_weight constant double precision := memory._share(weights ->> 'recency_weight');
begin
  if p_spaces is not null then
    return query
    select r.*
    from memory._rank_with_spaces(
      p_user_id, p_agent_id, p_query, p_model, p_target, p_policy, p_max_memories, p_spaces, relevance_weight,
      importance_weight, recency_weight) as r;
    return;
  end if;
  return query
  with relevant as (
    select r.id::uuid as memory_id, r.score
    from memory._ranked(
      p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
      p_mode => case when p_target is null then 'keyword' when p_query is null then 'vector' else 'hybrid' end,
      p_settings => p_policy -> 'search', p_sources => '{memory}', p_row_limit => 2 * least(p_max_memories, 500)) as r
    where relevance_weight > 0
  ), weighed as (
    select m.memory_id, m.memory_type, m.content, m.importance, memory._stated_at(m) as stated_at,
      coalesce(r.score, 0) as relevance, memory._recency(memory._last_said(m)) as recency
    from memory._valid_memories(p_user_id, p_agent_id) as m
    left join relevant as r on r.memory_id = m.memory_id
  ), best as (
    select w.*,
      memory._usefulness(w.relevance, w.importance, w.recency, relevance_weight, importance_weight, recency_weight)
        as score
    from weighed as w
    order by score desc, w.stated_at desc, w.memory_id desc
    limit p_max_memories
  )
  select row_number() over (order by b.score desc, b.stated_at desc, b.memory_id desc), b.memory_id, b.memory_type,
    b.content, b.stated_at, memory._real(b.score), b.relevance, b.importance, memory._real(b.recency), null::text
  from best as b;
end;
$$;

-- The same among the memories of the user and those of spaces, of which agent_id leaves none out: agents share a space
-- as users do. It needs the planner settings of memory._rank_memories(), so only that function may call this function.
create or replace function memory._rank_with_spaces(
  p_user_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb, p_max_memories int,
  p_spaces text[], p_relevance_weight double precision, p_importance_weight double precision,
  p_recency_weight double precision
)
returns table (
  rank bigint, memory_id uuid, memory_type text, content text, stated_at timestamptz, score real, relevance real,
  importance real, recency real, space text
)
language plpgsql stable parallel unsafe
as $$
begin
  return query
  with relevant as materialized (
    select r.id::uuid as memory_id, coalesce(r.thread_id, p_user_id) as owner, r.score
    from memory._ranked(
      p_user_id => p_user_id, p_agent_id => p_agent_id, p_query => p_query, p_model => p_model, p_target => p_target,
      p_mode => case when p_target is null then 'keyword' when p_query is null then 'vector' else 'hybrid' end,
      p_settings => p_policy -> 'search', p_sources => '{memory}', p_row_limit => 2 * least(p_max_memories, 500),
      p_spaces => p_spaces) as r
    where p_relevance_weight > 0
  ), weighed as (
    select o.owner, m.*
    from unnest(p_user_id || p_spaces) as o (owner)
    cross join lateral (
      select m.memory_id, m.memory_type, m.content, m.importance, memory._stated_at(m) as stated_at,
        coalesce(r.score, 0) as relevance, memory._recency(memory._last_said(m)) as recency
      from memory._valid_memories(o.owner, case o.owner when p_user_id then p_agent_id end) as m
      left join relevant as r on r.memory_id = m.memory_id and r.owner = o.owner
      offset 0 -- so that each owner's memories are read by the index
    ) as m
  ), best as (
    select w.*,
      memory._usefulness(w.relevance, w.importance, w.recency, p_relevance_weight, p_importance_weight,
                         p_recency_weight) as score
    from weighed as w
    order by score desc, w.stated_at desc, w.memory_id desc
    limit p_max_memories
  )
  select row_number() over (order by b.score desc, b.stated_at desc, b.memory_id desc), b.memory_id, b.memory_type,
    b.content, b.stated_at, memory._real(b.score), b.relevance, b.importance, memory._real(b.recency),
    memory._space_of(b.owner)
  from best as b;
end;
$$;

-- The weighted mean of relevance, importance and recency; null where no weight is above zero.
create or replace function memory._usefulness(
  p_relevance real, p_importance real, p_recency double precision, p_relevance_weight double precision,
  p_importance_weight double precision, p_recency_weight double precision
)
returns double precision
language sql immutable parallel safe
begin atomic
  select (p_relevance_weight * p_relevance + p_importance_weight * p_importance + p_recency_weight * p_recency)
    / nullif(p_relevance_weight + p_importance_weight + p_recency_weight, 0);
end;

-- A memory as one line. Line breaks of all kinds become spaces, so that no memory looks like a heading of the prompt,
-- and so that an application can put the block into its own fence.
create or replace function memory._memory_line(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return memory._harmless(btrim(regexp_replace(
    p_content, e'[\\s\\u0009-\\u000d\\u001c-\\u001f\\u0085\\u2028\\u2029]+', ' ', 'g')));
end;
$$;
