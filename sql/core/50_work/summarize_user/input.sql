-- The messages of all threads of a user since the last profile, thread by thread, so that a watermark can say how far
-- each thread was read. Threads get small numbers, because models copy long ids badly.
create or replace function memory._summarize_user_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  base memory.summaries := memory._latest_summary(p_job.user_id, '', 'user');
  is_recent constant boolean := p_job.request ? 'recent_k';
  wanted bigint := coalesce((p_job.request ->> 'recent_k')::bigint, 9223372036854775807);
  thread record;
  given record;
  said jsonb;
  messages jsonb := jsonb '[]';
  through jsonb := jsonb '{}';
  agents text[] := array[]::text[];
  is_partial boolean := false;
  bytes bigint := 0; -- the bytes of the messages read so far, even if a model needs none of them
  end_seq bigint;
  room constant int := memory._tokens_to_give(
    memory._chat_model(memory._policy_section(p_job.user_id, null, 'summary') ->> 'model',
      memory._policy_section(p_job.user_id, null, 'agent'), 'summarize_user'), p_job, base.summary);
begin
  tokens := 0;
  for thread in
    select t.thread_id, coalesce(k.position, -1) + 1 as from_seq, t.next_seq
    from memory.threads as t
    left join memory.marks as k on k.user_id = t.user_id and k.scope = t.thread_id and k.kind = 'summarize_user'
    where t.user_id = p_job.user_id and t.next_seq > coalesce(k.position, -1) + 1
    order by case when is_recent then t.last_at end desc, t.last_at, t.thread_id
  loop
    if jsonb_array_length(messages) >= least(wanted, 200) or tokens >= room or bytes >= 1000000 then
      is_partial := messages = '[]' or not is_recent;
      exit;
    end if;
    -- Leaves out a thread that is being cleared or deleted.
    perform from memory.threads as t
    where t.user_id = p_job.user_id and t.thread_id = thread.thread_id for key share skip locked;
    continue when not found;
    select * into given
    from memory._message_payload(
      p_job.user_id, thread.thread_id,
      greatest(thread.from_seq, thread.next_seq - (wanted - jsonb_array_length(messages))), thread.next_seq, true,
      200 - jsonb_array_length(messages), room - tokens, 1000000 - bytes);
    bytes := bytes + given.bytes + 1000;
    is_partial := is_partial or given.is_partial;
    if given.messages is null then -- no words of the user or an assistant: the messages count as read
      perform memory._set_mark(p_job.user_id, thread.thread_id, 'summarize_user',
        case when given.is_partial then given.examined_seq else thread.next_seq - 1 end);
      continue;
    end if;
    select jsonb_agg(jsonb_build_object('thread', (select count(*) from jsonb_object_keys(through)) + 1)
                     || (m.value - '{token_count,is_counted,is_cut,tool_calls}'::text[]) order by m.position)
    into said from jsonb_array_elements(given.messages) with ordinality as m (value, position);
    -- The oldest messages come first in either case. With recent_k the newest thread is read first.
    messages := case when is_recent then said || messages else messages || said end;
    through := through || jsonb_build_object(thread.thread_id, given.examined_seq);
    agents := agents || given.agent_ids;
    tokens := tokens + given.tokens;
    agent_id := memory._agent_of_message(p_job.user_id, thread.thread_id, given.last_seq);
  end loop;
  if messages = '[]' then
    input := jsonb_build_object('is_partial', is_partial);
    return;
  end if;
  end_seq := coalesce(base.end_seq, -1) + jsonb_array_length(messages);
  payload := memory._chat_model(
      memory._policy_section(p_job.user_id, agent_id, 'summary') ->> 'model',
      memory._policy_section(p_job.user_id, agent_id, 'agent'), 'summarize_user')
    || jsonb_build_object(
      'previous_summary', base.summary, 'previous_metadata', base.metadata, 'messages', messages);
  input := jsonb_build_object(
    'summary_id', memory._start_summary(p_job.user_id, '', 'user', 0, end_seq, base, agents, p_job),
    'chain', 'user',
    'through', through,
    'is_partial', is_partial);
end;
$$;
