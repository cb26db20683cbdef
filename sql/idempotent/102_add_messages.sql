-- Takes an array of OpenAI chat messages apart: one row per message, in order, refused as a whole when one is wrong.
create or replace function memory._parse_messages(messages jsonb)
returns table (ordinal bigint, role text, content text, metadata jsonb, created_at timestamptz, idempotency_key text)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := '{role,content,name,tool_calls,tool_call_id,refusal,annotations,audio,function_call,metadata,created_at,idempotency_key}';
  unknown_key text;
  bad record;
begin
  if jsonb_typeof(messages) is distinct from 'array' then
    perform memory._refuse('messages', case when messages is null then 'must not be null' else 'is not a JSON array' end,
      'Pass an array of chat messages such as [{"role": "user", "content": "Hi"}].');
  end if;
  select item.position, jsonb_typeof(item.value) as kind into bad
  from jsonb_array_elements(messages) with ordinality as item (value, position)
  where jsonb_typeof(item.value) <> 'object' order by item.position limit 1;
  if found then
    perform memory._refuse('messages', format('[%s] is a JSON %s', bad.position - 1, bad.kind), 'Each message is an object with role and content.');
  end if;
  -- Null members are what client libraries leave in a dumped message; they carry nothing.
  select item.position, member.key into bad
  from jsonb_array_elements(messages) with ordinality as item (value, position), jsonb_each(item.value) as member
  where member.value <> 'null' and member.key <> all (known) order by item.position limit 1;
  if found then
    perform memory._refuse('messages', format('[%s] has the unknown member "%s"', bad.position - 1, bad.key),
      'Known members: ' || array_to_string(known, ', ') || '. Put anything else into metadata.');
  end if;
  select item.position, jsonb_typeof(item.value -> 'metadata') as kind into bad
  from jsonb_array_elements(messages) with ordinality as item (value, position)
  where jsonb_typeof(item.value -> 'metadata') not in ('object', 'null') order by item.position limit 1;
  if found then
    perform memory._refuse('metadata', format('of messages[%s] is a JSON %s', bad.position - 1, bad.kind), 'Pass a JSON object such as {"channel": "mail"}.');
  end if;

  return query
  select item.position, item.value ->> 'role',
    -- Content may be text or an array of parts; the text parts are the text, the array itself stays in metadata.
    coalesce(case when jsonb_typeof(item.value -> 'content') = 'array'
                  then (select string_agg(part.value ->> 'text', e'\n' order by part.position)
                        from jsonb_array_elements(item.value -> 'content') with ordinality as part (value, position)
                        where part.value ->> 'type' = 'text')
                  else item.value ->> 'content' end,
             case when jsonb_typeof(item.value -> 'tool_calls') = 'array' then '' end),
    coalesce(nullif(item.value -> 'metadata', 'null'), '{}')
      || jsonb_strip_nulls(jsonb_build_object(
           'name', item.value -> 'name', 'tool_calls', item.value -> 'tool_calls', 'tool_call_id', item.value -> 'tool_call_id',
           'refusal', item.value -> 'refusal', 'annotations', nullif(item.value -> 'annotations', '[]'), 'audio', item.value -> 'audio',
           'function_call', item.value -> 'function_call',
           'content', case when jsonb_typeof(item.value -> 'content') = 'array' then item.value -> 'content' end)),
    (item.value ->> 'created_at')::timestamptz, item.value ->> 'idempotency_key'
  from jsonb_array_elements(messages) with ordinality as item (value, position)
  order by item.position;
exception
  when invalid_datetime_format or datetime_field_overflow then
    perform memory._refuse('created_at', sqlerrm, 'Write it like "2026-05-01T10:00:00Z".');
end;
$$;

create or replace function memory.add_messages(user_id text, thread_id text, messages jsonb, agent_id text default 'default')
returns setof memory.stored_message
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  appended record;
  incoming record;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', agent_id);

  -- Messages with a key may be repetitions: they take the way of add_message, one by one and in order.
  if jsonb_path_exists(messages, '$[*].idempotency_key ? (@ != null)') then
    for incoming in select * from memory._parse_messages(messages) loop
      return next memory.add_message(
        user_id => add_messages.user_id, thread_id => add_messages.thread_id, role => incoming.role, content => incoming.content,
        agent_id => add_messages.agent_id, metadata => incoming.metadata, created_at => incoming.created_at,
        idempotency_key => incoming.idempotency_key);
    end loop;
    return;
  end if;

  -- The others are booked in the thread once for all (a thread's row updated 1,000 times in one transaction costs more
  -- than the 1,000 inserts), then inserted under the numbers reserved that way.
  select count(*)::int as messages, sum(memory._estimate_tokens(p.content) + coalesce(memory._estimate_tokens(p.metadata ->> 'tool_calls'), 0)) as tokens,
    min(coalesce(p.created_at, statement_timestamp())) as first_at, max(coalesce(p.created_at, statement_timestamp())) as last_at,
    bool_or(p.role in ('assistant', 'agent') and not p.metadata ? 'tool_calls') as ends_round
  into incoming
  from memory._parse_messages(add_messages.messages) as p;
  if incoming.messages = 0 then
    return;
  end if;
  appended := memory._append(add_messages.user_id, add_messages.thread_id, add_messages.agent_id, incoming.messages, coalesce(incoming.tokens, 0),
                             incoming.first_at, incoming.last_at, coalesce(incoming.ends_round, false));
  perform set_config('memory.seqs_reserved', 'yes', true);
  return query
  with stored as (
    insert into memory.messages as m (user_id, thread_id, seq, role, content, agent_id, metadata, created_at, expires_at)
    select add_messages.user_id, add_messages.thread_id, appended.first_seq + p.ordinal - 1, p.role, p.content, add_messages.agent_id,
      p.metadata, p.created_at, appended.expires_at
    from memory._parse_messages(add_messages.messages) as p
    returning m.seq, m.content, m.token_count
  )
  select s.seq, s.content, s.token_count, null::text from stored as s order by s.seq;
  perform set_config('memory.seqs_reserved', '', true);
end;
$$;
comment on function memory.add_messages(text, text, jsonb, text) is
'Appends an array of OpenAI chat messages in one call and returns them as stored, in order; all or none. Each may also have created_at, metadata and idempotency_key. tool_calls, tool_call_id and name are kept in metadata.';
