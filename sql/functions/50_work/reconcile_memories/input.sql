-- The n newest memories that state something lasting, newest first, under small numbers. Facts of one agent have one
-- group number: a fact never hides a fact of another agent.
create or replace function memory._reconcile_memories_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  newest bigint;
  facts jsonb;
  facts_input jsonb;
begin
  with pool as (
    select row_number() over (order by m.created_at desc, m.memory_id desc) as number, m.*
    from (
      select v.* from memory._visible_memories(p_job.user_id, null, false) as v
      where v.memory_type in ('fact', 'preference', 'context', 'procedural')
      order by v.created_at desc, v.memory_id desc limit coalesce((p_job.request ->> 'n')::int, 50)) as m
  )
  select
    jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left(p.content, 8000), 'memory_type', p.memory_type,
      'subject', memory._subject(p.metadata), 'confidence', round(p.confidence::numeric, 2),
      'known_since', memory._real_or_null(coalesce(p.valid_from, p.created_at)),
      'group', (select count(distinct o.agent_id) from pool as o where o.agent_id <= p.agent_id)) order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', p.memory_id, 'version', p.version) order by p.number),
    memory._microseconds(max(p.created_at))::bigint, sum(memory._estimate_tokens(left(p.content, 8000)))
  into facts, facts_input, newest, tokens
  from pool as p;
  -- Facts that were looked at before are not looked at again, unless someone asks with n.
  if (jsonb_array_length(facts) >= 2) is not true or not p_job.request ? 'n' and exists (
    select from memory.marks as k
    where k.user_id = p_job.user_id and k.scope = '' and k.kind = 'reconcile_memories' and k.position >= newest
  ) then
    return;
  end if;
  agent_id := null; -- the facts belong to several agents, so only the user's budget pays
  payload := memory._chat_model(null, memory._policy_section(p_job.user_id, null, 'agent'), 'reconcile_memories')
    || jsonb_build_object('facts', facts);
  input := jsonb_build_object('facts', facts_input, 'newest', newest);
end;
$$;
