-- The ids of a memory and of the memories that say the same; empty when the user has no such memory. Two memories say
-- the same if their contents are spelled alike, if one hides the other as a duplicate, or if they are near-duplicates
-- (memory._near_memories()). Contradicting memories do not say the same: a memory that was superseded by a forgotten
-- one becomes current again. p_agents are the agents whose counters are locked.
create or replace function memory._same_memories(p_user_id text, p_memory_id uuid, p_agents text[])
returns uuid[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    with recursive same as (
      select m.memory_id from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory_id
      union
      -- "offset 0" keeps the planner from comparing every memory of the user with every other one: 11 s for 1,000.
      select found.memory_id
      from same as s
      cross join lateral (
        select m as row, w.wordings, memory._patterns_of(w.wordings) as patterns
        from memory.memories as m
        cross join lateral memory._wordings_of(array[m.content]) as w (wordings)
        where m.user_id = p_user_id and m.memory_id = s.memory_id offset 0
      ) as known
      cross join lateral (
        select o.memory_id
        from memory.memories as o
        where o.user_id = p_user_id and o.memory_id <> (known.row).memory_id and o.agent_id = any (p_agents)
          and (o.content_hash = (known.row).content_hash
            or memory._may_state(o.content, known.patterns) and memory._compared_text(o.content) = known.wordings[1]
            or o.superseded_by = (known.row).memory_id and o.supersede_reason in ('duplicate', 'near-duplicate')
            or (known.row).superseded_by = o.memory_id
              and (known.row).supersede_reason in ('duplicate', 'near-duplicate'))
        union all
        select n from memory._near_memories(known.row) as n where (known.row).agent_id = any (p_agents)
        offset 0) as found
    )
    select s.memory_id from same as s);
end;
$$;

-- The memories that say the same as a memory in other words. They have its subject and agent, their embeddings are as
-- close as the policy says, each text agrees with the other (memory._agrees_with()), and one text has all words of the
-- other. This rule is stricter than the one that hides near-duplicates, because a hidden memory can come back and a
-- forgotten one cannot. All embeddings of the user's memories are read once, in the order of their index.
create or replace function memory._near_memories(p_memory memory.memories)
returns setof uuid
language plpgsql stable parallel safe
as $$
declare
  active constant text := (memory._embedding_model()).name;
  policy constant jsonb := memory._policy(p_memory.user_id, p_memory.agent_id);
  language constant regconfig := (policy #>> '{search,language}')::regconfig;
  own constant text[] := tsvector_to_array(to_tsvector(language, p_memory.content));
begin
  return query
  with known as materialized (
    select e.embedding from memory._embeddings_of(p_memory.user_id, active) as e
    where e.source = 'memory' and e.id = p_memory.memory_id::text
  ), close as materialized (
    select e.id::uuid as memory_id
    from known as k
    join memory._embeddings_of(p_memory.user_id, active) as e on e.source = 'memory'
    where memory._cosine_similarity(k.embedding, e.embedding)
      >= memory._share(policy #>> '{memories,near_duplicate_cosine}')
  )
  select m.memory_id
  from close as c
  cross join lateral (
    select m.* from memory.memories as m where m.user_id = p_memory.user_id and m.memory_id = c.memory_id
    offset 0 -- looks up each memory by its key; a join would compare all memories of the user with each
  ) as m
  cross join lateral tsvector_to_array(to_tsvector(language, m.content)) as other (words)
  where m.memory_id <> p_memory.memory_id and m.agent_id = p_memory.agent_id
    and memory._subject(m.subject) = memory._subject(p_memory.subject)
    and (own <@ other.words or other.words <@ own)
    and memory._agrees_with(m.content, p_memory.content) and memory._agrees_with(p_memory.content, m.content);
end;
$$;
