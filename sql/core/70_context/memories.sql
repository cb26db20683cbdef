-- needs pgvector on the search_path

-- Memories in a context: which are shown, and the block that shows them.

-- The memories of one kind as lines, best first. p_kind says which: those that stand in every context (standing),
-- chosen without the query, so that the block changes only when memories change; those that the query asks for besides
-- (asked), without p_except; or the most useful of all (all). Lines that do not fit into p_room tokens (null: no limit)
-- with the headings of their types are passed over. If there are more memories than p_most, half of the number is left
-- to those that are asked for. A memory of a space begins with its name in brackets.
create or replace function memory._memory_offers(
  p_asking memory._asking, p_kind text, p_place int, p_most int, p_room int, p_dates boolean,
  p_except uuid[] default '{}'
)
returns memory._offer[]
language plpgsql stable parallel unsafe
as $$
declare
  ranked record;
  offers memory._offer[] := array[]::memory._offer[];
  room int := p_room;
  types text[] := array[]::text[];
  most int := p_most;
  line text;
  held text; -- since when, and until when
  tokens int;
  of_heading int;
  why_not text;
begin
  if p_asking.spaces is null
    and not exists (
      select from memory.memories as m
      where m.user_id = p_asking.user_id and (p_asking.agent_id is null or m.agent_id = p_asking.agent_id)
        and memory._is_valid(m)) then
    return offers;
  end if;
  for ranked in
    select m.*, coalesce(t.heading, m.memory_type) as heading, count(*) over () as found, x.tokens
    from memory._rank_memories(p_asking, p_kind, p_most, p_except) as m
    left join lateral (
      select e.tokens from memory.texts as e
      where e.user_id = m.owner and e.source = 'memory' and e.id = m.memory_id::text and e.hash = md5(m.content)::uuid
      offset 0) as x on true
    left join memory.memory_types as t on t.memory_type = m.memory_type
    order by m.rank
  loop
    if p_kind = 'standing' and ranked.found > p_most and num_nonnulls(p_asking.query, p_asking.target) > 0 then
      most := (p_most + 1) / 2;
    end if;
    why_not := case when ranked.rank > p_most or cardinality(types) >= most then 'others matter more' end;
    line := memory._memory_line(
      case when ranked.space is null then ranked.content else '[' || ranked.space || '] ' || ranked.content end);
    held := case when p_dates and why_not is null
      then memory._dates_held(p_asking.user_id, ranked.memory_id, ranked.valid_from, ranked.valid_to) else '' end;
    tokens := case when line = ranked.content and ranked.tokens is not null
      -- A number has three tokens with its period and line break. A blank before a digit or an East Asian letter is
      -- one more;
      -- " (since 13 November 2026)" has nine.
      then ranked.tokens + 3 + memory._tokens_of_blank(line)
        + 9 * regexp_count(held, 'since|until')
      else memory._tokens_at_most(e'\n12. ' || line || held) end;
    of_heading := case when ranked.memory_type = any (types) then 0 else memory._heading_tokens(ranked.heading) end;
    if why_not is null and tokens + of_heading > room then
      why_not := 'does not fit';
    end if;
    if why_not is null then
      room := room - tokens - of_heading;
      types := types || ranked.memory_type;
    end if;
    offers := offers || row(
      p_place, 0, 'memories', ranked.memory_id, 'system', line || held, tokens, jsonb_build_object(
        'memory_id', ranked.memory_id, 'score', ranked.score, 'relevance', ranked.relevance,
        'importance', ranked.importance, 'recency', ranked.recency)
        || case when p_asking.spaces is null then '{}' else jsonb_build_object('space', ranked.space) end,
      why_not, ranked.memory_type, ranked.stated_at)::memory._offer;
    exit when why_not is not null and room < 10 and not p_asking.explains; -- Hardly any line has fewer tokens.
  end loop;
  return offers;
end;
$$;

-- The memories of one kind for a prompt, of the user and of the spaces, of which agent_id leaves none out: agents share
-- a space as users do. Standing memories come by importance, then the newest first. All others are ranked by relevance
-- to the query, importance and recency, whose weights the policy sets, as in Park et al., "Generative Agents" (2023).
-- Recency halves with every 30 days since the memory was last said. A memory is asked for if it is as relevant as the
-- policy's context.min_relevance says and if its score in the search is no less than the share context.recall_cut of
-- the best, or if the query names its attribute; and so is a lesson about a tool that the thread has called. The result
-- has p_most memories and one more, if there are more; all, if the context is explained.
create or replace function memory._rank_memories(
  p_asking memory._asking, p_kind text, p_most int, p_except uuid[]
)
returns table (
  rank bigint, memory_id uuid, memory_type text, content text, stated_at timestamptz, score real, relevance real,
  importance real, recency real, owner text, space text, valid_from timestamptz, valid_to timestamptz
)
language plpgsql stable parallel unsafe
set enable_nestloop = off
set enable_mergejoin = off
as $$
declare
  weights constant jsonb := p_asking.policy -> 'context';
  is_standing constant boolean := p_kind = 'standing';
  relevance_weight constant double precision := case
    when is_standing or num_nonnulls(p_asking.query, p_asking.target) = 0 then 0
    else memory._share(weights ->> 'relevance_weight') end;
  importance_weight constant double precision :=
    case when is_standing then 1 else memory._share(weights ->> 'importance_weight') end;
  recency_weight constant double precision :=
    case when is_standing then 0 else memory._share(weights ->> 'recency_weight') end;
  asks_then constant boolean := memory._time_asked(p_asking.query) is not null;
  cut constant double precision := memory._share(weights ->> 'recall_cut');
  lessons constant uuid[] := case when p_kind = 'asked' and (p_asking.policy #>> '{extraction,procedures}')::boolean
    then memory._lessons_asked(p_asking) end;
begin
  return query
  with relevant as materialized (
    select r.id::uuid as memory_id,
      coalesce(r.space, p_asking.user_id) as owner,
      r.score, coalesce(r.relevance, 1) as relevance,
      r.score >= cut * max(r.score) over () and coalesce(r.relevance, 1) >= p_asking.near as is_near
    from memory._ranked(
      p_user_id => p_asking.user_id, p_agent_id => p_asking.agent_id, p_query => p_asking.query,
      p_model => p_asking.model, p_target => p_asking.target,
      p_mode => case when p_asking.target is null then 'keyword' when p_asking.query is null then 'vector'
                  else 'hybrid' end,
      p_settings => p_asking.policy -> 'search', p_sources => '{memory}',
      p_row_limit => 2 * least(p_most::bigint + 1 + cardinality(p_except), 500)::int, p_filters => p_asking.filters,
      p_spaces => p_asking.spaces) as r
    where relevance_weight > 0
  ), asked as materialized ( -- by the attribute that the query names
    select a.* from memory._values_asked(p_asking.user_id, p_asking.agent_id, p_asking.query, asks_then, array(
      select r.memory_id from relevant as r order by r.score desc limit 3), 10) as a
    where p_asking.query is not null and relevance_weight > 0 and (p_asking.filters is null
      or a.memory_id::text in (select p.id from memory._memory_passing(p_asking.user_id, p_asking.filters) as p (id)))
  ), weighed as (
    select o.owner, m.*
    from unnest(p_asking.user_id || p_asking.spaces) as o (owner)
    cross join lateral (
      select m.memory_id, m.memory_type, m.content, m.importance, memory._stated_at(m) as stated_at,
        case when k.is_asked then 1::real else coalesce(r.score, 0) end as match,
        case when k.is_asked then 1::real else coalesce(r.relevance, 0) end as relevance,
        -- Recalling a memory makes it no younger. What began before it was said is as old as the saying: who says today
        -- that she moved to Lisbon last year lives there today.
        memory._recency(greatest(memory._said_at(m), m.valid_from)) as recency, m.valid_from, m.valid_to,
        r.is_near or k.is_asked as is_near
      from memory.memories as m
      left join relevant as r on r.memory_id = m.memory_id and r.owner = o.owner
      left join asked as a on a.memory_id = m.memory_id
      cross join lateral (
        select a.memory_id is not null or (m.memory_id = any (lessons)) is true) as k (is_asked)
      where m.user_id = o.owner and memory._is_valid(m)
        and (p_asking.agent_id is null or o.owner <> p_asking.user_id or m.agent_id = p_asking.agent_id)
        and (p_asking.filters is null
          or m.memory_id::text in (select p.id from memory._memory_passing(o.owner, p_asking.filters) as p (id)))
      offset 0 -- so that each owner's memories are read by the index
    ) as m
    union all
    select p_asking.user_id, a.memory_id, a.memory_type, a.content, a.importance, memory._stated_at(a), 1, 1, 0,
      a.valid_from, a.valid_to, true
    from asked as a where asks_then
  ), best as (
    select w.*,
      (relevance_weight * w.match + importance_weight * w.importance + recency_weight * w.recency)
        / nullif(relevance_weight + importance_weight + recency_weight, 0) as score
    from weighed as w
    where w.memory_id <> all (p_except) and (p_kind <> 'asked' or w.is_near)
    order by score desc, w.stated_at desc, w.memory_id desc
    limit case when not p_asking.explains then p_most::bigint + 1 end
  )
  select row_number() over (order by b.score desc, b.stated_at desc, b.memory_id desc), b.memory_id, b.memory_type,
    b.content, b.stated_at, memory._real(b.score),
    case when not is_standing then memory._real(b.relevance) end, b.importance, memory._real(b.recency), b.owner,
    case when b.owner <> p_asking.user_id then memory._space_of(b.owner) end,
    b.valid_from, b.valid_to
  from best as b;
end;
$$;

-- The user's newest five lessons about the tools that the thread has called, in the 100 messages before the newest
-- request of the user. Calls of the round that has begun do not count, so that the context of a round stays as it is.
create or replace function memory._lessons_asked(p_asking memory._asking)
returns uuid[]
language plpgsql stable parallel safe
as $$
declare
  request constant bigint := (
    select r.seq from memory._newest_request(p_asking.user_id, p_asking.thread_id, p_asking.agent_id) as r);
  about constant text[] := array(
    select distinct 'tool ' || (n #>> '{}')
    from (
      select m.metadata
      from memory.messages as m
      where m.user_id = p_asking.user_id and m.thread_id = p_asking.thread_id and m.seq < request
      order by m.seq desc limit 100) as s
    cross join lateral jsonb_path_query(s.metadata, 'lax $.tool_calls[*].function.name') as n);
begin
  return array(
    select m.memory_id
    from memory.memories as m
    where about <> '{}' and m.user_id = p_asking.user_id and m.memory_type = 'procedural' and m.subject = any (about)
      and (p_asking.agent_id is null or m.agent_id = p_asking.agent_id) and memory._is_valid(m)
    order by memory._said_at(m) desc, m.memory_id desc limit 5);
end;
$$;

-- What memories and recalled messages say twice: the ids of the memories whose source messages are all recalled, and
-- one of these messages says more than the memory (but a standing memory stays); and of the messages that say no more
-- than a memory that is shown.
create or replace function memory._said_twice(
  p_user_id text, p_memories memory._offer[], p_recalled memory._recalled[], out memories text[], out messages text[]
)
language plpgsql stable parallel safe
as $$
begin
  memories := '{}';
  messages := '{}';
  if p_memories = '{}' or p_recalled = '{}' then
    return;
  end if;
  select coalesce(array_agg(distinct p.id) filter (where p.is_recalled), '{}'),
    coalesce(array_agg(p.message) filter (where p.no_more and not p.is_recalled), '{}')
  into memories, messages
  from (
    select s.*, s.place <> 3 and bool_or(not s.no_more) over of_memory
        and count(*) filter (where s.why_not is null) over of_memory = s.sources as is_recalled
    from (
      select k.id, k.place, r.thread_id || '/' || r.seq as message, r.why_not, cardinality(m.source_seqs) as sources,
        memory._says_no_more(r.wording, memory._wording(m.content)) as no_more
      from unnest(p_memories) as k
      cross join lateral (
        select o.thread_id, o.source_seqs, o.content from memory.memories as o
        where o.user_id = p_user_id and o.memory_id = k.id::uuid and o.source_seqs <> '{}' offset 0) as m
      join unnest(p_recalled) as r on r.thread_id = m.thread_id and r.seq = any (m.source_seqs)
      where k.why_not is null) as s
    window of_memory as (partition by s.id)) as p;
end;
$$;

-- The part of a context that shows these memories, and the lines that it leaves out. The part is a block of the
-- memories, grouped by type, in the fence if p_fenced. The block shows memories in the order in which they were said:
-- of two statements that disagree the later one is newer, and a new memory stands at the end of its type. The tokens of
-- the block are at most those of its lines, and at most the bound of the whole text.
create or replace function memory._memories_part(p_offers memory._offer[], p_fenced boolean default true)
returns memory._offer[]
language plpgsql stable parallel safe
as $$
declare
  block text;
  tokens int;
begin
  if p_offers = '{}' then
    return p_offers;
  end if;
  select memory._heading_of('memories') || e'\n\n'
      || string_agg(g.block, e'\n\n' order by g.position, g.memory_type), sum(g.tokens)
  into block, tokens
  from (
    select n.kind as memory_type, t.position, sum(n.token_count) + memory._heading_tokens(coalesce(t.heading, n.kind))
        as tokens,
      '**' || memory._memory_line(coalesce(t.heading, n.kind)) || e':**\n'
        || string_agg(n.number || '. ' || n.content, e'\n' order by n.number) as block
    from (
      select o.kind, o.content, o.token_count,
        row_number() over (partition by o.kind order by o.said_at, o.id) as number
      from unnest(p_offers) as o where o.why_not is null
    ) as n
    left join memory.memory_types as t on t.memory_type = n.kind
    group by n.kind, t.position, t.heading
  ) as g;
  block := case when p_fenced then memory._fenced(block) else block end;
  tokens := least(memory._tokens_at_most(block), memory._fence_tokens() + tokens);
  return array(
    select row((p_offers[1]).place, 0, 'memories', null, 'system', block, tokens,
      jsonb_build_object('memories', jsonb_agg(o.metadata order by o.number)), null, null, null)::memory._offer
    from unnest(p_offers) with ordinality
      as o (place, seq, source, id, role, content, token_count, metadata, why_not, kind, said_at, number)
    where o.why_not is null and block is not null
    having count(*) > 0) || array(select o from unnest(p_offers) as o where o.why_not is not null);
end;
$$;

-- The most tokens that a heading in the block of memories has, with the signs and line breaks around it.
create or replace function memory._heading_tokens(p_heading text)
returns int
language plpgsql immutable parallel safe
as $$
begin
  return memory._tokens_at_most(e'\n\n**:**' || memory._memory_line(p_heading));
end;
$$;

-- The filters of the memories in a context, checked; null if there are none, because unfiltered rankings are faster.
create or replace function memory._filters_of_memories(
  p_memory_types text[], p_tags_any text[], p_exclude_tags text[], p_filter jsonb
)
returns memory._search_filters
language plpgsql stable parallel safe
as $$
begin
  if num_nonnulls(p_memory_types, p_tags_any, p_exclude_tags, p_filter) = 0 then
    return null;
  end if;
  perform memory._check_list('memory_types', p_memory_types),
    memory._check_memory_types('memory_types', p_memory_types),
    memory._check_list('tags_any', p_tags_any),
    memory._check_list('exclude_tags', p_exclude_tags),
    memory._check_filter(p_filter);
  return memory._filters(
    p_memory_types => p_memory_types, p_tags_any => p_tags_any, p_exclude_tags => p_exclude_tags,
    p_filter => p_filter);
end;
$$;

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

-- Since when a memory holds, and until when, for the end of its line: " (since 3 November 2026)", by the days of the
-- message that it was drawn from. Nothing is said of today, and of what is not known.
create or replace function memory._dates_held(
  p_user_id text, p_memory_id uuid, p_valid_from timestamptz, p_valid_to timestamptz
)
returns text
language plpgsql stable parallel unsafe
as $$
declare
  zone text;
  held text;
begin
  if num_nonnulls(p_valid_from, p_valid_to) = 0 then
    return '';
  end if;
  -- A memory of a space is not among the user's, so the user's newest thread decides.
  zone := coalesce(
    (select memory._zone_of(p_user_id, m.thread_id, m.source_seqs[1])
     from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory_id),
    memory._zone_of(p_user_id));
  held := concat_ws(' ',
    'since ' || to_char(
      nullif(memory._day_of(p_valid_from, zone), memory._day_of(statement_timestamp(), zone)), 'FMDD FMMonth YYYY'),
    'until ' || to_char(memory._day_of(p_valid_to, zone), 'FMDD FMMonth YYYY'));
  return case when held = '' then '' else ' (' || held || ')' end;
end;
$$;
