create or replace function memory.add_message(
  user_id text, thread_id text, role text, content text,
  agent_id text default 'default', metadata jsonb default '{}', created_at timestamptz default null,
  expires_at timestamptz default null, idempotency_key text default null
)
returns memory.stored_message
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  stored memory.stored_message;
  tokens int;
  short memory.shortened_message;
  booked record;
begin
  -- Asked inline, because the call would take 1 us more.
  if not memory._is_user(user_id) then
    perform memory._check_id('user_id', user_id);
  end if;
  if idempotency_key is not null then
    perform memory._check_id('thread_id', thread_id);
    stored := memory._message_by_key(user_id, thread_id, role, content, idempotency_key);
    if stored.seq is not null then
      return stored;
    end if;
  end if;

  if role = 'agent' or metadata is null then
    role := case role when 'agent' then 'assistant' else role end;
    metadata := coalesce(metadata, '{}');
  end if;
  created_at := coalesce(created_at, statement_timestamp());
  if memory._message_problem(user_id, thread_id, agent_id, role, content, metadata, created_at, idempotency_key)
    is not null then
    perform memory._refuse_message(user_id, thread_id, agent_id, role, content, metadata, created_at, idempotency_key);
  end if;
  if expires_at is not null then
    perform memory._check_bound('expires_at', expires_at);
    -- An old message of an import may have expired since it was said. One that expires before it is said is a mistake,
    -- such as a wrong year.
    if expires_at <= least(created_at, statement_timestamp()) then
      raise notice 'degraded: nobody will read the message, expires_at is before created_at' using errcode = '01AM9',
        hint = 'Pass a later expires_at, or the created_at of an old message.';
    end if;
  end if;

  if memory._may_be_long(content) then
    short := memory._shorten(memory._policy_section(user_id, agent_id, 'artifacts'), user_id, thread_id, agent_id, role,
                             content, metadata, idempotency_key is not null);
    if short.artifact_key is not null then
      content := short.content;
      metadata := short.metadata;
    end if;
  end if;

  -- Like memory.add_messages(): booked first, then inserted under the reserved number. The insert trigger would do the
  -- same work, but calling it takes a tenth of the time of add_message.
  tokens := memory._estimated_tokens(content, metadata);
  booked := memory._append(user_id, thread_id, agent_id, 1, tokens, created_at, created_at,
                           memory._ends_round(role, metadata));
  if booked.first_seq is null then
    perform memory._note_missing_resource(agent_id, 'memory', 'nothing is stored');
    return row(null, content, tokens, null)::memory.stored_message;
  end if;
  -- The setting lets the row pass by the insert trigger; further statements that set and clear it would take 3 % of the
  -- time.
  insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
    idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest)
  values (add_message.user_id, add_message.thread_id,
    case when set_config('memory.seqs_reserved', booked.reservation, true) <> '' then booked.first_seq end,
    add_message.agent_id, add_message.role, add_message.content, add_message.metadata, tokens,
    add_message.idempotency_key, add_message.created_at, statement_timestamp(),
    coalesce(add_message.expires_at, booked.expires_at), short.artifact_key, short.content_digest)
  returning m.seq, m.content, m.token_count,
    coalesce(nullif(set_config('memory.seqs_reserved', '', true), ''), short.memory_ref) into stored;
  if not found then -- a trigger of the application's own has left the message out
    perform set_config('memory.seqs_reserved', '', true);
    update memory.threads as t
    set next_seq = t.next_seq - case when t.next_seq = booked.first_seq + 1 then 1 else 0 end,
        message_count = t.message_count - 1, active_tokens = t.active_tokens - tokens,
        tokens_since_summary = t.tokens_since_summary - tokens
    where t.user_id = add_message.user_id and t.thread_id = add_message.thread_id;
  end if;
  return stored;
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. The same '
'idempotency_key in the same thread stores once: a repetition returns the stored message, other content is refused '
'(23505). A long message of a role in policy artifacts.roles is kept as an artifact: content then holds its '
'placeholder, which memory_ref repeats. For an agent without the resource memory nothing is stored: seq is null.';
