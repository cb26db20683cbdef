-- The n newest memories that state lasting facts, numbered from 1, those that were said last first. Facts of one agent
-- have one group number, because a fact never hides a fact of another agent. The built-in model costs nothing, so it
-- gets 1,000 memories, and as many extracted facts that are hidden behind them. It decides anew about all of them, so
-- that its decisions do not depend on which facts were stored first.
create or replace function memory._reconcile_memories_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  model constant jsonb :=
    memory._chat_model(null, memory._policy_section(p_job.user_id, null, 'agent'), 'reconcile_memories');
  is_built_in constant boolean := model #>> '{model,provider}' = 'local';
  most constant int := coalesce((p_job.request ->> 'n')::int, case when is_built_in then 1000 else 50 end);
  newest bigint;
  facts jsonb;
  facts_input jsonb;
begin
  with recursive pool as (
    select f.* from memory._newest_facts(p_job.user_id, most) as f
    union all
    select m.* from pool as w
    join memory.memories as m on m.user_id = w.user_id and m.superseded_by = w.memory_id
    where is_built_in and m.supersede_reason in ('duplicate', 'near-duplicate', 'contradict', 'stated')
      and not memory._is_stated(m)
      and m.deleted_at is null
      and memory._is_unexpired(m.expires_at)
  ), numbered as (
    select row_number() over (order by memory._said(p) desc, p.thread_id desc, p.created_at desc, p.memory_id desc)
        as number, dense_rank() over (order by p.agent_id) as agent_number, p.*
    from (
      select o.* from pool as o order by o.superseded_at is not null, o.created_at desc, o.memory_id desc
      limit 2 * most) as p
  )
  select
    jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left(p.content, 8000), 'memory_type', p.memory_type,
      'subject', memory._subject(p.metadata), 'confidence', round(p.confidence::numeric, 2),
      'known_since', memory._real_or_null(coalesce(p.valid_from, p.created_at)),
      'group', p.agent_number)
      || case when p.superseded_by is null then jsonb '{}' else jsonb_build_object('hidden_by', w.number) end
      order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', p.memory_id, 'version', p.version) order by p.number),
    memory._microseconds(max(p.created_at))::bigint, sum(memory._estimate_tokens(left(p.content, 8000)))
  into facts, facts_input, newest, tokens
  from numbered as p
  left join numbered as w on w.memory_id = p.superseded_by;
  -- A job leaves out facts that an earlier job has read, unless the caller gives n.
  if (jsonb_array_length(facts) >= 2) is not true or not p_job.request ?| array['n', 'is_forced'] and exists (
    select from memory.marks as k
    where k.user_id = p_job.user_id and k.scope = '' and k.kind = 'reconcile_memories' and k.position >= newest
  ) then
    return;
  end if;
  agent_id := null; -- the facts belong to several agents, so only the user's budget pays
  payload := model || jsonb_build_object('facts', facts);
  input := jsonb_build_object('facts', facts_input, 'newest', newest);
end;
$$;

-- The newest current memories of a user that state lasting facts. Those of each agent stand in this order in
-- memories_recent_idx, so at most p_most of each agent are read, and not all of a user with 100,000.
create or replace function memory._newest_facts(p_user_id text, p_most int)
returns setof memory.memories
language plpgsql stable parallel safe
-- A plan made while the table was empty would read and sort all memories of the user.
set enable_seqscan = off
set enable_sort = off
set jit = off
as $$
begin
  return query
  select n.*
  from memory.memory_scopes as s
  cross join lateral (
    select v.* from memory._visible_memories(s.user_id, null, false) as v
    where v.agent_id = s.agent_id and v.memory_type in ('fact', 'preference', 'context', 'procedural')
    order by v.created_at desc, v.memory_id desc limit p_most) as n
  where s.user_id = p_user_id
  order by n.created_at desc, n.memory_id desc limit p_most;
end;
$$;
