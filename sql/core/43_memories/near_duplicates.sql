-- Hides extracted memories behind near-duplicates, and returns how many. Near-duplicates are memories of one agent,
-- subject and attribute whose embeddings have at least the cosine near_duplicate_cosine of the policy, and which agree
-- in what makes a difference (same_statement.sql). Of two extracted memories the longer text wins, or of equally long
-- texts the one that began first. Stated and reworded memories are never hidden here; they win over memories that began
-- later, and stand beside memories that began before. Only the five nearest memories are compared.
create or replace function memory._fold_near_duplicates(p_user_id text, p_model text, p_memory_ids uuid[])
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  candidate memory.memories;
  nearest record;
  threshold double precision;
  folded int := 0;
begin
  for candidate in
    select m.* from memory._memories_by_ids(p_user_id, p_memory_ids) as m
    where m.source = 'extraction' and memory._reworded_at(m) is null
    order by m.created_at, m.memory_id
  loop
    threshold := memory._share(memory._policy(p_user_id, candidate.agent_id) #>> '{memories,near_duplicate_cosine}');
    -- A winning candidate may hide several memories. The loop skips a candidate that an earlier one has hidden.
    while exists (
      select from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = candidate.memory_id and memory._is_current(m))
    loop
      select o.memory_id, o.says_less into nearest
      from (
        select s.*, s.is_open and (
            length(candidate.content) > length(s.content)
            or length(candidate.content) = length(s.content) and not s.is_older) as says_less
        from (
          -- The subquery reads row by row, because the planner plans a join badly while the table has no statistics.
          select n.memory_id, n.created_at, n.content, n.trust,
            n.source = 'extraction' and memory._reworded_at(n) is null as is_open,
            (coalesce(n.valid_from, n.created_at), n.created_at, n.memory_id)
              < (coalesce(candidate.valid_from, candidate.created_at), candidate.created_at, candidate.memory_id)
              as is_older,
            memory._cosine_similarity(c.embedding, (
              select f.embedding from memory._embeddings_of(p_user_id, p_model) as f
              where f.source = 'memory' and f.id = n.memory_id::text))
              as similarity
          from memory._visible_memories(p_user_id, null, false) as n
          cross join (
            select e.embedding from memory._embeddings_of(p_user_id, p_model) as e
            where e.source = 'memory' and e.id = candidate.memory_id::text) as c
          where n.agent_id = candidate.agent_id
            and n.source <> 'thread_summary' -- the next summary of the thread replaces this memory
            and memory._subject(n.subject) = memory._subject(candidate.subject)
            and lower(n.attribute) is not distinct from lower(candidate.attribute)
            and n.memory_id <> candidate.memory_id
        ) as s
        where s.similarity >= threshold and (s.is_open or s.is_older)
          and memory._may_outrank(least(candidate.trust, s.trust), greatest(candidate.trust, s.trust))
        order by s.similarity desc, s.created_at, s.memory_id
        limit 5
      ) as o
      where case when o.says_less then memory._agrees_with(candidate.content, o.content)
                 else memory._agrees_with(o.content, candidate.content) end
      order by o.similarity desc, o.created_at, o.memory_id
      limit 1;
      exit when not found;
      perform memory._end_memories(p_user_id,
        array[case when nearest.says_less then nearest.memory_id else candidate.memory_id end],
        case when nearest.says_less then candidate.memory_id else nearest.memory_id end, 'near-duplicate');
      folded := folded + 1;
    end loop;
  end loop;
  return folded;
end;
$$;
