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
  short memory.shortened_message;
  tokens int;
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
  if expires_at is not null or memory._may_be_long(content)
    or memory._message_problem(user_id, thread_id, agent_id, role, content, metadata, created_at, idempotency_key)
      is not null then
    short := memory._settle_message(user_id, thread_id, agent_id, role, content, metadata, created_at, expires_at,
                                    idempotency_key);
    content := short.content;
    metadata := short.metadata;
    -- An old message of an import may have expired since it was said. One that expires before it is said is a mistake,
    -- such as a wrong year.
    if expires_at <= least(created_at, statement_timestamp()) then
      raise notice 'degraded: nobody will read the message, expires_at is before created_at' using errcode = '01AM9',
        hint = 'Pass a later expires_at, or the created_at of an old message.';
    end if;
  end if;

  -- Booked first, then inserted under the number that is reserved for it. The insert trigger would do the same work,
  -- but calling it takes a tenth of the time of add_message, and one function that both call a twenty-fifth.
  tokens := memory._estimated_tokens(content, metadata);
  booked := memory._append(user_id, thread_id, agent_id, 1, tokens, created_at, created_at,
                           memory._ends_round(role, metadata));
  if booked.first_seq is null then
    return row(null, content, tokens, null)::memory.stored_message;
  elsif booked.masks then
    select m.* into content, metadata, tokens
    from memory._mask_booked(user_id, thread_id, content, metadata, tokens, short.artifact_key) as m;
  end if;
  -- memory.seqs_reserved lets the row pass by the insert trigger. It is set back here, before triggers of the
  -- application's own run after the insert; statements that set it and set it back would take 3 % of the time.
  insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
    idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest)
  values (add_message.user_id, add_message.thread_id, booked.first_seq, add_message.agent_id, add_message.role,
    add_message.content, add_message.metadata, tokens, add_message.idempotency_key, add_message.created_at,
    statement_timestamp(), coalesce(add_message.expires_at, booked.expires_at), short.artifact_key,
    short.content_digest)
  returning m.seq, m.content, m.token_count,
    case when set_config('memory.seqs_reserved', booked.mark, true) is not null then short.memory_ref end into stored;
  if stored.seq is null then -- a trigger of the application's own has left the message out
    perform set_config('memory.seqs_reserved', booked.mark, true);
    perform memory._unbook(user_id, thread_id, booked.first_seq, 1, tokens);
  end if;
  return stored;
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. The same '
'idempotency_key in the same thread stores once: a repetition returns the stored message, other content is refused '
'(23505). A long message of a role in policy artifacts.roles is kept as an artifact: content then holds its '
'placeholder, which memory_ref repeats. For an agent without the resource memory nothing is stored: seq is null.';
