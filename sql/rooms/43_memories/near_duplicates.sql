-- Hides extracted memories behind near-duplicates, and returns the number of hidden memories. Near-duplicates are
-- memories of the same agent and subject whose embeddings have at least the cosine near_duplicate_cosine of the policy,
-- and whose claims agree (memory._agrees_with()). Of two extracted memories the longer text wins, or of equally long
-- texts the one that was said first; the order of the embeddings does not matter. The function never hides stated and
-- reworded memories; they win over memories that were said later, and stand beside memories that were said before.
-- Comparing the words of one text takes 0.5 ms, so the function only compares the five nearest memories.
create or replace function memory._fold_near_duplicates(p_user_id text, p_model text, p_memory_ids uuid[])
returns int
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- a session keeps the plan of its first call, made perhaps without any embeddings
set jit = off
as $$
declare
  candidate record;
  nearest record;
  threshold double precision;
  language regconfig;
  claim jsonb;
  folded int := 0;
begin
  for candidate in
    select (f.m).memory_id, (f.m).agent_id, (f.m).content, (f.m).trust, (f.m).created_at,
      memory._said(f.m) as said,
      coalesce((f.m).thread_id, '') as thread_id, memory._subject((f.m).metadata) as subject,
      (select e.embedding
       from memory.embeddings as e
       where e.user_id = p_user_id
         and e.source = 'memory'
         and e.id = i.id::text
         and e.model = p_model) as embedding
    from unnest(p_memory_ids) as i (id)
    cross join lateral ( -- each by its key, as in memory._memory_texts()
      select m from memory.memories as m where m.user_id = p_user_id and m.memory_id = i.id offset 0) as f
    where (f.m).source = 'extraction'
      and memory._reworded_at(f.m) is null
      and memory._is_current(f.m)
    order by (f.m).created_at, (f.m).memory_id
  loop
    threshold := memory._share(memory._policy(p_user_id, candidate.agent_id) #>> '{memories,near_duplicate_cosine}');
    language := memory._language(p_user_id, candidate.agent_id);
    claim := memory._claim(candidate.content, language);
    -- A winning candidate may hide several memories. The loop skips a candidate that an earlier candidate has hidden.
    while exists (
      select from memory.memories as m
      where m.user_id = p_user_id and m.memory_id = candidate.memory_id and memory._is_current(m))
    loop
      select o.memory_id, o.says_less into nearest
      from (
        select s.memory_id, s.created_at, s.content, s.trust, s.similarity,
          s.is_open and (
            length(candidate.content) > length(s.content)
            or length(candidate.content) = length(s.content) and not s.is_older) as says_less
        from (
          -- The subquery reads row by row, because the planner plans a join badly while the table has no statistics.
          select n.memory_id, n.created_at, n.content, n.trust,
            n.source = 'extraction' and memory._reworded_at(n) is null as is_open,
            (memory._said(n), coalesce(n.thread_id, ''), n.created_at, n.memory_id)
              < (candidate.said, candidate.thread_id, candidate.created_at, candidate.memory_id) as is_older,
            memory._cosine_similarity(candidate.embedding, (
              select f.embedding
              from memory.embeddings as f
              where f.user_id = n.user_id
                and f.model = p_model
                and f.source = 'memory'
                and f.id = n.memory_id::text)) as similarity
          from memory._visible_memories(p_user_id, null, false) as n
          where n.agent_id = candidate.agent_id
            and n.source <> 'thread_summary' -- the next summary of the thread replaces this memory
            and memory._subject(n.metadata) = candidate.subject
            and n.memory_id <> candidate.memory_id
        ) as s
        where s.similarity >= threshold and (s.is_open or s.is_older)
          and memory._may_outrank(least(candidate.trust, s.trust), greatest(candidate.trust, s.trust))
        order by s.similarity desc, s.created_at, s.memory_id
        limit 5
      ) as o
      where case
        when o.says_less then memory._agrees_with(claim, memory._claim(o.content, language))
        else memory._agrees_with(memory._claim(o.content, language), claim)
      end
      order by o.similarity desc, o.created_at, o.memory_id
      limit 1;
      exit when not found;
      perform memory._supersede_all(p_user_id, array[candidate.memory_id, nearest.memory_id],
        case when nearest.says_less then candidate.memory_id else nearest.memory_id end, 'near-duplicate');
      folded := folded + 1;
    end loop;
  end loop;
  return folded;
end;
$$;

-- The person or thing that a memory is about, in its plain spelling: metadata.subject, or else the user.
create or replace function memory._subject(p_metadata jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(nullif(memory._plainly_spelled(p_metadata ->> 'subject'), ''), 'user');
end;
