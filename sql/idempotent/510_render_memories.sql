-- Memories for a prompt, the most useful first: what matches the query, then by importance, then what was said last.
create or replace function memory._rank_memories(user_id text, agent_id text, query text, max_memories int)
returns table (rank bigint, memory_id uuid, memory_type text, content text)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  language regconfig := (memory._policy(_rank_memories.user_id, _rank_memories.agent_id) #>> '{search,language}')::regconfig;
begin
  return query
  with candidates as materialized (
    select row_number() over () as document, m.memory_id, m.memory_type, m.content, m.importance, coalesce(m.valid_from, m.created_at) as known_since,
      case when _rank_memories.query is not null then m.search_vector end as search_vector
    from memory._visible_memories(_rank_memories.user_id, null, false) as m
    where _rank_memories.agent_id is null or m.agent_id = _rank_memories.agent_id
  )
  select row_number() over (order by coalesce(k.score, 0) desc, c.importance desc, c.known_since desc, c.memory_id desc) as rank,
    c.memory_id, c.memory_type, c.content
  from candidates as c
  left join memory._keyword_scores(language, coalesce(_rank_memories.query, ''),
                                   (select array_agg(v.search_vector order by v.document) from candidates as v)) as k using (document)
  order by 1
  limit max_memories;
end;
$$;

create or replace function memory.render_memories(
  user_id text, agent_id text default null, query text default null,
  max_memories int default 20, max_tokens int default null, query_embedding vector default null
)
returns text
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  memory record;
  chosen uuid[] := array[]::uuid[];
  types text[] := array[]::text[];
  bytes int := octet_length('## Your Memories');
  added int;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if (max_memories >= 1) is not true then
    perform memory._refuse('max_memories', format('%s is less than 1', coalesce(max_memories::text, 'null')), '20 is the default.');
  end if;
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for no limit.');
  end if;
  if query_embedding is not null then
    raise notice 'degraded: vector search is not part of this version, query_embedding is not used';
  end if;

  -- By rank, passing over what does not fit, and counted with numbers and headings: the block as a whole keeps the limit.
  for memory in
    select m.memory_id, m.memory_type, memory._memory_line(m.content) as line, coalesce(t.heading, m.memory_type) as heading
    from memory._rank_memories(render_memories.user_id, render_memories.agent_id, query, max_memories) as m
    left join memory.memory_types as t on t.memory_type = m.memory_type
    order by m.rank
  loop
    added := octet_length(e'\n. ' || memory.line) + length((cardinality(array_positions(types, memory.memory_type)) + 1)::text)
      + case when memory.memory_type = any (types) then 0 else octet_length(e'\n\n**:**' || memory.heading) end;
    if max_tokens is null or (bytes + added + 3) / 4 <= max_tokens then
      bytes := bytes + added;
      chosen := chosen || memory.memory_id;
      types := types || memory.memory_type;
    end if;
  end loop;

  -- Shown in the order in which they were said: of two statements that disagree the later one is the newer one.
  return coalesce(e'## Your Memories\n\n' || string_agg(g.block, e'\n\n' order by g.position, g.memory_type), '')
  from (
    select n.memory_type, t.position,
      '**' || coalesce(t.heading, n.memory_type) || e':**\n' || string_agg(n.number || '. ' || n.line, e'\n' order by n.number) as block
    from (select m.memory_type, memory._memory_line(m.content) as line,
            row_number() over (partition by m.memory_type order by coalesce(m.valid_from, m.created_at), m.created_at, m.memory_id) as number
          from memory.memories as m
          where m.user_id = render_memories.user_id and m.memory_id = any (chosen)) as n
    left join memory.memory_types as t on t.memory_type = n.memory_type
    group by n.memory_type, t.position, t.heading
  ) as g;
end;
$$;
comment on function memory.render_memories(text, text, text, int, int, vector) is
'The memories of a user as a block for a system prompt, headed "## Your Memories", numbered and grouped by type: those that match the query first, then the most important and the newest, limited by count and by tokens. Empty text when there are none.';

-- Line breaks of all kinds fold into spaces, so that no memory can pose as a heading of the prompt.
create or replace function memory._memory_line(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return btrim(regexp_replace(content, e'[\\s\\u001c-\\u001f\\u0085\\u2028\\u2029]+', ' ', 'g'));
end;
$$;
