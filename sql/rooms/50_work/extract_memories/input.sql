-- Messages since the last extraction, at most 200 or about 24,000 tokens. The rest follows in the next job.
create or replace function memory._extract_memories_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
set enable_seqscan = off -- a plan made while the table of marks was empty would read all of it
set jit = off
as $$
declare
  from_seq bigint;
  next_seq bigint;
  given record;
  policy jsonb;
begin
  select coalesce(k.position, -1) + 1, t.next_seq into from_seq, next_seq
  from memory.threads as t
  left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
  where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
  if not found then -- the thread was deleted while someone asked for the job
    return;
  end if;
  from_seq := greatest(from_seq, next_seq - (p_job.request ->> 'recent_k')::bigint);
  select * into given
  from memory._message_payload(
    p_job.user_id, p_job.scope, from_seq, 9223372036854775807, true, 200, 24000, p_reads_expired => true);
  agent_id := memory._agent_of_message(p_job.user_id, p_job.scope, given.last_seq);
  policy := memory._policy(p_job.user_id, agent_id);
  -- Messages of other roles than user and assistant count as read, and so do messages that an agent stored before it
  -- lost the resource memory.
  if given.messages is null or not (policy #>> '{resources,memory}')::boolean then
    perform memory._set_mark(p_job.user_id, p_job.scope, 'extract_memories',
      case when given.is_partial then given.examined_seq else next_seq - 1 end);
    input := jsonb_build_object('is_partial', given.is_partial);
    return;
  end if;
  if memory._extractable_today(p_job.user_id, agent_id, policy -> 'memories') = 0 then
    perform memory._refuse_until_tomorrow('memories.max_extracted_per_day', 'no more memories may be extracted today');
  end if;
  tokens := given.tokens;
  payload := memory._chat_model(null, policy -> 'agent', 'extract_memories')
    || jsonb_build_object(
      'thread_id', p_job.scope,
      'messages', given.messages,
      'memory_types', memory._types_to_extract(policy -> 'extraction'))
    -- What the policy wants of this agent's memories, where it wants something.
    || jsonb_strip_nulls(jsonb_build_object(
      'instructions', policy #> '{extraction,instructions}',
      'from_roles', nullif(policy #> '{extraction,from_roles}', '["user"]')));
  input := jsonb_build_object(
    'from_seq', from_seq,
    'through_seq', given.examined_seq,
    'read_through', given.examined_seq,
    'is_partial', given.is_partial,
    'seqs', jsonb_path_query_array(given.messages, '$[*].seq'),
    'stating', jsonb_path_query_array(
      given.messages, '$[*] ? ($roles[*] == @.role).seq',
      jsonb_build_object('roles', policy #> '{extraction,from_roles}')),
    'agent_ids', given.agent_ids)
    || case policy #> '{extraction,types}' when '{}' then '{}'
         else jsonb_build_object('types', policy #> '{extraction,types}') end;
end;
$$;
