-- The short-term memories of a user, oldest first, numbered from 1.
create or replace function memory._consolidate_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql stable parallel safe
as $$
declare
  memories jsonb;
  memories_input jsonb;
  newest bigint;
begin
  -- Takes the oldest 100 short-term memories. Memories that no job has looked at come first: otherwise a hundred
  -- memories that fit into no article would keep the others out. Stated memories that are in an article are left out.
  with oldest as (
    select m.* from memory.memories as m
    where m.user_id = p_job.user_id and memory._is_visible(m)
      and memory._is_short_term(m)
      and m.memory_id::text <> all (array(
        select jsonb_array_elements_text(d.metadata -> 'memory_ids') from memory.documents as d
        where d.user_id = p_job.user_id and d.namespace = 'memories' and d.source = 'consolidation'
          and d.quarantined_at is null
          and jsonb_typeof(d.metadata -> 'memory_ids') = 'array'))
    order by memory._microseconds(m.created_at) <= (
        select k.position from memory.marks as k
        where k.user_id = p_job.user_id and k.scope = '' and k.kind = 'consolidate') is true,
      m.created_at, m.memory_id
    limit 100
  ), pool as (
    select row_number() over (order by m.created_at, m.memory_id) as number, m.* from oldest as m
  )
  select
    jsonb_agg(jsonb_build_object(
      'number', p.number, 'content', left(p.content, 8000), 'memory_type', p.memory_type,
      'created_at', memory._real_or_null(coalesce(p.valid_from, p.created_at))) order by p.number),
    jsonb_agg(jsonb_build_object('memory_id', p.memory_id, 'version', p.version) order by p.number),
    memory._microseconds(max(p.created_at))::bigint, sum(memory._estimate_tokens(left(p.content, 8000)))
  into memories, memories_input, newest, tokens
  from pool as p;
  if (jsonb_array_length(memories) >= 2) is not true then
    return;
  end if;
  agent_id := null; -- the memories belong to several agents, so only the user's budget pays
  payload := memory._chat_model(null, memory._policy_section(p_job.user_id, null, 'agent'), 'consolidate')
    || jsonb_build_object('memories', memories);
  input := jsonb_build_object('memories', memories_input, 'newest', newest);
end;
$$;

-- Whether a memory is short-term: it says what held for a while, and is a week old. By default its messages are gone by
-- then.
create or replace function memory._is_short_term(p_memory memory.memories)
returns boolean
language sql stable parallel safe
begin atomic
  select (p_memory).memory_type in ('context', 'episodic')
    and (p_memory).created_at < statement_timestamp() - interval '7 days';
end;
