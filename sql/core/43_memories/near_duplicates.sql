-- Hides extracted memories behind near-duplicates, and returns their number. Near-duplicates are memories of one agent,
-- subject and attribute whose embeddings have at least the cosine near_duplicate_cosine of the policy, and which agree
-- in numbers, names and turning words (same_statement.sql). Of two extracted memories the longer text wins, or of
-- equally long texts the one that began first. Stated and reworded memories are never hidden here: they win over
-- memories that began later, and stand beside memories that began before. Only the five nearest are compared.
create or replace function memory._fold_near_duplicates(p_user_id text, p_model text, p_memory_ids uuid[])
returns int
language plpgsql volatile parallel unsafe
as $$
declare
  candidate memory.memories;
  near record;
  threshold double precision;
  folded int := 0;
begin
  for candidate in
    select m.* from memory._memories_by_ids(p_user_id, p_memory_ids) as m
    where m.source = 'extraction' and not memory._is_reworded(m)
    order by m.created_at, m.memory_id
  loop
    continue when not exists ( -- an earlier pass of the loop has hidden the candidate
      select from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = candidate.memory_id and memory._is_current(m));
    threshold := memory._share(memory._policy(p_user_id, candidate.agent_id) #>> '{memories,near_duplicate_cosine}');
    for near in
      select s.memory_id, s.content, s.is_open and (
          length(candidate.content) > length(s.content)
          or length(candidate.content) = length(s.content) and not s.is_older) as says_less
      from (
        -- The subquery reads row by row, because the planner plans a join badly while the table has no statistics.
        select n.memory_id, n.created_at, n.content, n.trust,
          n.source = 'extraction' and not memory._is_reworded(n) as is_open,
          (coalesce(n.valid_from, n.created_at), n.created_at, n.memory_id)
            < (coalesce(candidate.valid_from, candidate.created_at), candidate.created_at, candidate.memory_id)
            as is_older,
          memory._cosine_similarity(c.embedding, (
            select f.embedding from memory._embeddings_of(p_user_id, p_model) as f
            where f.source = 'memory' and f.id = n.memory_id::text)) as similarity
        from memory.memories as n
        cross join (
          select e.embedding from memory._embeddings_of(p_user_id, p_model) as e
          where e.source = 'memory' and e.id = candidate.memory_id::text) as c
        where n.user_id = p_user_id and n.agent_id = candidate.agent_id and memory._is_visible(n)
          and n.source <> 'thread_summary' -- the thread's next summary replaces such a memory
          and memory._subject(n.subject) = memory._subject(candidate.subject)
          and lower(n.attribute) is not distinct from lower(candidate.attribute)
          and n.memory_id <> candidate.memory_id
      ) as s
      where s.similarity >= threshold and (s.is_open or s.is_older)
        and memory._may_outrank(least(candidate.trust, s.trust), greatest(candidate.trust, s.trust))
      order by s.similarity desc, s.created_at, s.memory_id
      limit 5
    loop
      continue when not case when near.says_less then memory._agrees_with(candidate.content, near.content)
                             else memory._agrees_with(near.content, candidate.content) end;
      folded := folded + memory._end_memories(p_user_id,
        array[case when near.says_less then near.memory_id else candidate.memory_id end],
        case when near.says_less then candidate.memory_id else near.memory_id end, 'near-duplicate');
      exit when not near.says_less;
    end loop;
  end loop;
  return folded;
end;
$$;
