-- Memories for a prompt, the most useful first: what matches the query, then by importance, then the newest.
create or replace function memory._rank_memories(user_id text, agent_id text, query text, max_memories int)
returns table (rank bigint, memory_id uuid, memory_type text, content text, created_at timestamptz)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  language regconfig := (memory._policy(_rank_memories.user_id, _rank_memories.agent_id) #>> '{search,language}')::regconfig;
begin
  return query
  with candidates as materialized (
    select row_number() over () as document, m.*
    from memory._visible_memories(_rank_memories.user_id, null, false) as m
    where _rank_memories.agent_id is null or m.agent_id = _rank_memories.agent_id
  )
  select row_number() over (order by coalesce(k.score, 0) desc, c.importance desc, c.created_at desc, c.memory_id desc) as rank,
    c.memory_id, c.memory_type, c.content, c.created_at
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
begin
  perform memory._check_id('user_id', user_id);
  if (max_memories >= 1) is not true then
    perform memory._refuse('max_memories', format('%s is less than 1', coalesce(max_memories::text, 'null')), '20 is the default.');
  end if;
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for no limit.');
  end if;
  -- Chosen by rank, shown oldest first: of two statements that disagree the later one is the newer one.
  -- White space folds to single spaces, so that no memory can pose as a heading of the prompt.
  return coalesce(e'## Your Memories\n\n' || string_agg(g.block, e'\n\n' order by g.position, g.memory_type), '')
  from (
    select c.memory_type, c.position, '**' || c.heading || e':**\n' || string_agg(c.number || '. ' || c.line, e'\n' order by c.number) as block
    from (
      select b.*, row_number() over (partition by b.memory_type order by b.created_at, b.memory_id) as number
      from (
        -- Counted with the numbers and headings, so that the whole block stays within max_tokens.
        select r.*, sum(memory._estimate_tokens(r.line) + 2 + r.heading_tokens) over (order by r.rank) + 5 as tokens
        from (
          select m.rank, m.memory_type, m.created_at, m.memory_id, t.position, coalesce(t.heading, m.memory_type) as heading,
            regexp_replace(btrim(m.content), '\s+', ' ', 'g') as line,
            case when row_number() over (partition by m.memory_type order by m.rank) = 1
                 then memory._estimate_tokens(coalesce(t.heading, m.memory_type)) + 3 else 0 end as heading_tokens
          from memory._rank_memories(render_memories.user_id, render_memories.agent_id, query, max_memories) as m
          left join memory.memory_types as t on t.memory_type = m.memory_type
        ) as r
      ) as b
      where max_tokens is null or b.tokens <= max_tokens
    ) as c
    group by c.memory_type, c.position, c.heading
  ) as g;
end;
$$;
comment on function memory.render_memories(text, text, text, int, int, vector) is
'The memories of a user as a block for a system prompt, headed "## Your Memories", numbered and grouped by type: those that match the query first, then the most important and the newest, limited by count and by tokens. Empty text when there are none.';
