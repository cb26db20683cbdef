-- The facts to compare, numbered from 1, the last said first. The function looks at the user's newest 1,000 memories
-- that state lasting facts. Of these it takes the facts that no job has compared yet, and the facts that are like them.
-- Facts of one agent have one group number, because a fact never hides a fact of another agent. The built-in model
-- costs nothing, so it gets all 1,000.
create or replace function memory._reconcile_memories_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
-- With a plan made while the table was empty, PostgreSQL would read and sort all memories of the user.
set enable_sort = off
as $$
declare
  model constant jsonb :=
    memory._chat_model(null, memory._policy_section(p_job.user_id, null, 'agent'), 'reconcile_memories');
  is_local constant boolean := model #>> '{model,provider}' = 'local';
  most constant int := coalesce((p_job.request ->> 'n')::int, case when is_local then 1000 else 50 end);
  -- The time of the newest fact that an earlier job has read. This job compares only newer facts. The value is null if
  -- no job has read any fact, or if the request names a number of facts (n) or is_forced; then the job compares facts
  -- of any time.
  read_before constant bigint := case when not p_job.request ?| array['n', 'is_forced'] then (
    select k.position from memory.marks as k
    where k.user_id = p_job.user_id and k.scope = '' and k.kind = 'reconcile_memories') end;
  to_read constant int := case when is_local then most else 1000 end;
  -- memories_recent_idx has the facts of each agent in this order, so the query reads at most to_read facts of each
  -- agent, and not all 100,000 of a large user.
  given memory.memories[] := array(
    select n.fact
    from memory.memory_scopes as s
    cross join lateral (
      select v as fact, v.created_at, v.memory_id from memory.memories as v
      where v.user_id = s.user_id and v.agent_id = s.agent_id and memory._is_visible(v)
        and v.memory_type in ('fact', 'preference', 'context', 'procedural')
      order by v.created_at desc, v.memory_id desc limit to_read) as n
    where s.user_id = p_job.user_id
    order by n.created_at desc, n.memory_id desc limit to_read);
  newest bigint;
  new_ids uuid[];
  facts jsonb;
  facts_input jsonb;
begin
  select array_agg(n.memory_id), max(n.made)
  into new_ids, newest
  from (
    select f.memory_id, memory._microseconds(f.created_at)::bigint as made
    from unnest(given) with ordinality as f
    where read_before is null or memory._microseconds(f.created_at) > read_before
    order by f.ordinality limit most) as n;
  if new_ids is null then
    return;
  end if;
  if not is_local then
    given := array(
      select f from unnest(given) as f
      where f.memory_id = any (new_ids) or f.memory_id = any (array(
        select a.memory_id from memory._facts_alike(p_job.user_id, given, new_ids) as a)));
  end if;
  if cardinality(given) < 2 then
    return;
  end if;
  select
    jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left((p.m).content, 8000), 'memory_type', (p.m).memory_type,
      'subject', memory._subject((p.m).subject), 'attribute', (p.m).attribute,
      'confidence', round((p.m).confidence::numeric, 2),
      'known_since', memory._real_or_null(coalesce((p.m).valid_from, (p.m).created_at)), 'group', p.agent_number)
      || case when (p.m).memory_id = any (new_ids) and not is_local then '{"is_new": true}' else '{}'::jsonb end
      order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', (p.m).memory_id, 'version', (p.m).version) order by p.number),
    sum(memory._estimate_tokens(left((p.m).content, 8000)))
  into facts, facts_input, tokens
  from (
    select row_number() over (order by memory._said(m) desc, m.thread_id desc, m.created_at desc, m.memory_id desc)
        as number, dense_rank() over (order by m.agent_id) as agent_number, m
    from unnest(given) as m) as p;
  agent_id := null; -- the facts belong to several agents, so only the user's budget pays
  payload := model || jsonb_build_object('facts', facts);
  input := jsonb_build_object('facts', facts_input, 'newest', newest);
end;
$$;

-- For each new fact the 3 facts of the same agent and subject that are most like it: they have at least half of the
-- words of the shorter one, are near it in meaning, or have the same attribute.
create or replace function memory._facts_alike(p_user_id text, p_facts memory.memories[], p_new_ids uuid[])
returns table (memory_id uuid)
language plpgsql stable parallel safe
as $$
declare
  embedder constant text := (memory._embedding_model()).name;
begin
  return query
  with facts as materialized (
    select f.memory_id, f.agent_id, memory._subject(f.subject) as subject, f.attribute,
      tsvector_to_array(t.words) as words, f.memory_id = any (p_new_ids) as is_new, e.embedding
    from unnest(p_facts) as f
    join lateral ( -- each by its key: without statistics PostgreSQL would read all texts of the user
      select x.words from memory.texts as x
      where x.user_id = p_user_id and x.source = 'memory' and x.id = f.memory_id::text offset 0) as t on true
    left join lateral (
      select g.embedding from memory._embeddings_of(p_user_id, embedder) as g
      where g.source = 'memory' and g.id = f.memory_id::text offset 0) as e on true
  ), shared as (
    select n.memory_id as new_id, o.memory_id as other_id, count(*) as words
    from facts as n cross join lateral unnest(n.words) as w
    join (select f.memory_id, f.agent_id, f.subject, u as word from facts as f cross join lateral unnest(f.words) as u)
      as o on o.word = w and o.agent_id = n.agent_id and o.subject = n.subject and o.memory_id <> n.memory_id
    where n.is_new
    group by n.memory_id, o.memory_id
  ), pairs as (
    select n.memory_id as new_id, o.memory_id as other_id,
      greatest(
        case when n.attribute = o.attribute then 1 else 0 end,
        coalesce(s.words::float8 / nullif(least(cardinality(n.words), cardinality(o.words)), 0), 0),
        coalesce(memory._cosine_similarity(n.embedding, o.embedding), 0) - 0.2) as likeness
    from facts as n
    join facts as o on o.agent_id = n.agent_id and o.subject = n.subject and o.memory_id <> n.memory_id
    left join shared as s on s.new_id = n.memory_id and s.other_id = o.memory_id
    where n.is_new
  )
  select distinct l.other_id
  from (select p.other_id, row_number() over (partition by p.new_id order by p.likeness desc, p.other_id) as place
        from pairs as p where p.likeness >= 0.5) as l
  where l.place <= 3;
end;
$$;
