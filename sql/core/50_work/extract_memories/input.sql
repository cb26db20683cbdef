-- The messages since the last extraction: at most 200, and at most three quarters of the tokens that the model may be
-- given. Known memories get the remaining tokens, and the next job gets the remaining messages. A few earlier messages
-- show what an answer is about.
create or replace function memory._extract_memories_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  from_seq bigint;
  next_seq bigint;
  outputs jsonb; -- the names of tools by the seqs of their outputs, which lessons may rest on
  given record;
  earlier record;
  policy jsonb;
  types jsonb;
  known memory.memories[];
  room int;
begin
  select coalesce(k.position, -1) + 1, t.next_seq into from_seq, next_seq
  from memory.threads as t
  left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'extract_memories'
  where t.user_id = p_job.user_id and t.thread_id = p_job.scope;
  if not found then -- the thread was deleted while someone asked for the job
    return;
  end if;
  from_seq := greatest(from_seq, next_seq - (p_job.request ->> 'recent_k')::bigint);
  room := memory._tokens_to_give(memory._chat_model(null, memory._policy_section(p_job.user_id,
    memory._agent_of_message(p_job.user_id, p_job.scope, from_seq), 'agent'), 'extract_memories'), p_job);
  select * into given
  from memory._message_payload(p_job.user_id, p_job.scope, from_seq, 9223372036854775807, true, 200,
    case when room < 24000 then room * 3 / 4 else room end, p_reads_expired => true, p_with_tools => true);
  agent_id := memory._agent_of_message(p_job.user_id, p_job.scope, given.last_seq);
  policy := memory._policy(p_job.user_id, agent_id);
  types := policy #> '{extraction,types}';
  -- Messages of other roles than user and assistant count as read. So do messages that an agent stored before it lost
  -- the resource memory.
  if given.messages is null or not (policy #>> '{resources,memory}')::boolean then
    perform memory._set_mark(p_job.user_id, p_job.scope, 'extract_memories',
      case when given.is_partial then given.examined_seq else next_seq - 1 end);
    input := jsonb_build_object('is_partial', given.is_partial);
    return;
  end if;
  if memory._extractable_today(p_job.user_id, agent_id, policy -> 'memories') = 0 then
    perform memory._refuse_until_tomorrow('memories.max_extracted_per_day', 'no more memories may be extracted today');
  end if;
  -- An output of an unknown call has no name: no lesson rests on it.
  outputs := (
    select jsonb_object_agg(o.value ->> 'seq', coalesce(c.value #>> '{function,name}', ''))
    from jsonb_array_elements(given.messages) as o
    left join jsonb_path_query(given.messages, 'lax $[*].tool_calls[*]') as c (value)
      on c.value ->> 'id' = o.value ->> 'tool_call_id'
    where o.value ->> 'role' = 'tool');
  select * into earlier from memory._earlier_messages(p_job.user_id, p_job.scope, from_seq);
  known := array(
    select k from memory._memories_concerned(
      p_job.user_id, given.agent_ids, p_job.scope, given.messages,
      least((policy #>> '{extraction,known}')::int, room / 80)) as k -- a known memory has 20 tokens as a rule
    -- Nothing is known of a new user, and to look for it would take two thirds of the time of a claim.
    where exists (select from memory.memories as m where m.user_id = p_job.user_id));
  tokens := given.tokens + coalesce(earlier.tokens, 0)
    + coalesce((select sum(memory._estimate_tokens(k.content))::int from unnest(known) as k), 0);
  payload := memory._chat_model(null, policy -> 'agent', 'extract_memories')
    || jsonb_build_object(
      'thread_id', p_job.scope,
      'messages', given.messages,
      'earlier', coalesce(earlier.messages, '[]'),
      -- The types that the policy names, with a JSON schema of the fields of their memories, or else all general types.
      -- Only a summary makes a conversation_summary.
      'memory_types', (
        select jsonb_agg(
          jsonb_build_object('memory_type', t.memory_type,
                             'description', coalesce(types -> t.memory_type ->> 'description', t.description))
          || case when types -> t.memory_type ? 'properties'
               then jsonb_build_object('fields', types -> t.memory_type) else '{}' end
          order by t.position, t.memory_type)
        from memory.memory_types as t
        where case when types = '{}' then t.is_general and t.memory_type <> 'conversation_summary'
          else types ? t.memory_type end),
      'attributes', memory._attributes(policy -> 'memories'),
      'known', coalesce((
        select jsonb_agg(jsonb_strip_nulls(jsonb_build_object(
          'number', k.ordinality, 'content', left(k.content, 1000), 'memory_type', k.memory_type, 'subject', k.subject,
          'attribute', k.attribute, 'value', k.metadata -> 'value', 'said_at', memory._said_at(known[k.ordinality])))
          order by k.ordinality)
        from unnest(known) with ordinality as k), '[]'))
    -- The instructions of the policy for this agent's memories, if there are any.
    || jsonb_strip_nulls(jsonb_build_object(
      'procedures', case when outputs is not null then true end,
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
    'agent_ids', given.agent_ids,
    'known', array(select k.memory_id from unnest(known) as k))
    || case types when '{}' then '{}' else jsonb_build_object('types', types) end
    || case when outputs is null then '{}' else jsonb_build_object('outputs', outputs) end;
end;
$$;

-- The last 4 messages of user and assistant among the 12 messages before a seq. A long message is given with its
-- beginning and its end.
create or replace function memory._earlier_messages(
  p_user_id text, p_thread_id text, p_before_seq bigint, out messages jsonb, out tokens int
)
language plpgsql stable parallel unsafe
as $$
begin
  select jsonb_agg(e.message || jsonb_build_object('content', s.said) order by e.place),
    sum(memory._estimate_tokens(s.said))
  into messages, tokens
  from (
    select m.place, m.value - '{token_count,is_counted,is_cut,tool_calls}'::text[]
    from memory._message_payload(p_user_id, p_thread_id, p_before_seq - 12, p_before_seq - 1, true, 12, 24000) as g
    cross join lateral jsonb_array_elements(g.messages) with ordinality as m (value, place)
    order by m.place desc limit 4) as e (place, message)
  -- The text is masked before it is cut, because a mask does not recognise a part of a credential.
  cross join lateral (select memory._without_credentials(e.message ->> 'content')) as w (whole)
  cross join lateral (
    select case when length(w.whole) <= 300 then w.whole
      else left(w.whole, 100) || ' … ' || right(w.whole, 200) end) as s (said);
end;
$$;
