-- The ids of a memory and of those that say the same; empty when the user has no such memory. Two memories say the same
-- if their contents are spelled alike, if one hides the other as a duplicate, if one was merged from the other, or if
-- they are near-duplicates (memory._near_memories()). A contradiction is no duplicate: a memory that a forgotten memory
-- contradicted is current again. p_agents are those whose counters are locked.
create or replace function memory._same_memories(p_user_id text, p_memory_id uuid, p_agents text[])
returns uuid[]
language plpgsql stable parallel safe
as $$
begin
  return array(
    with recursive same as (
      select m.memory_id from memory.memories as m where m.user_id = p_user_id and m.memory_id = p_memory_id
      union
      -- "offset 0" keeps the planner from comparing each memory of the user with each: 11 s for 1,000.
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
              and (known.row).supersede_reason in ('duplicate', 'near-duplicate')
            or o.metadata -> 'merged_from' ? (known.row).memory_id::text
            or (known.row).metadata -> 'merged_from' ? o.memory_id::text)
        union all
        select n from memory._near_memories(known.row) as n where (known.row).agent_id = any (p_agents)
        offset 0) as found
    )
    select s.memory_id from same as s);
end;
$$;

-- The memories that say the same as a memory in other words: of its subject and agent, their embeddings are as close as
-- the policy says, and one claims all that the other claims. That is stricter than the rule that hides near-duplicates,
-- because a hidden memory can come back and a forgotten one cannot. Only close ones are compared by words, which takes
-- 0.5 ms. All embeddings of the user's memories are read once, in the order of their index.
create or replace function memory._near_memories(p_memory memory.memories)
returns setof uuid
language plpgsql stable parallel safe
as $$
declare
  active constant text := (memory._embedding_model()).name;
  policy constant jsonb := memory._policy(p_memory.user_id, p_memory.agent_id);
  language constant regconfig := (policy #>> '{search,language}')::regconfig;
  claimed constant jsonb := memory._claim(p_memory.content, language);
begin
  return query
  with known as materialized (
    select e.embedding from memory.embeddings as e
    where e.user_id = p_memory.user_id and e.model = active and e.source = 'memory' and e.id = p_memory.memory_id::text
  ), close as materialized (
    select e.id::uuid as memory_id
    from known as k
    join memory.embeddings as e on e.user_id = p_memory.user_id and e.model = active and e.source = 'memory'
    where memory._cosine_similarity(k.embedding, e.embedding)
      >= memory._share(policy #>> '{memories,near_duplicate_cosine}')
  )
  select m.memory_id
  from close as c
  join memory.memories as m on m.user_id = p_memory.user_id and m.memory_id = c.memory_id
  cross join lateral memory._claim(m.content, language) as other (claim)
  where m.memory_id <> p_memory.memory_id and m.agent_id = p_memory.agent_id
    and memory._subject(m.metadata) = memory._subject(p_memory.metadata)
    and (memory._says_all_of(claimed, other.claim, false) or memory._says_all_of(other.claim, claimed, false));
end;
$$;
