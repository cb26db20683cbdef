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
  artifact_key text;
  content_digest text;
  memory_ref text;
  tokens int;
  booked_seq bigint;
  messages_now bigint;
  tokens_now bigint;
  tokens_since bigint;
  layers memory.policies[];
  embeds boolean;
  mark text; -- see triggers.sql
  masks text[];
  settled jsonb[]; -- metadata and files
  is_in_space boolean;
begin
  -- Nearly every message has nothing but a thread, a role and a text that stays whole. To see that takes half of the
  -- operators of checking any message, and PostgreSQL prepares each operator anew in each transaction, which takes
  -- longer than evaluating it. Some messages that obey all rules fail these conditions: those with ids of 255 letters
  -- of two bytes, and longer ones, which the array would copy. A long answer of an assistant stays whole, unless the
  -- policy says something else; to settle it takes 44 of 186 us of CPU (2026-11).
  if created_at is null and expires_at is null and idempotency_key is null and metadata = '{}'
    and octet_length(content) <= 10000 and memory._is_role(role)
    and '' <> all (array[user_id, thread_id, agent_id, content])
    and octet_length(user_id || thread_id || agent_id) <= 255
    and memory._may_reach(user_id) and memory._is_here(user_id)
    and (not memory._may_be_long(content)
      or memory._stays_whole(memory._policy_section(user_id, agent_id, 'artifacts'), role)) then
    created_at := statement_timestamp();
    tokens := memory._estimate_tokens(content);
  else
    perform memory._check_id('user_id', user_id);
    content := memory._text_of_message(memory._role(role), content, metadata);
    is_in_space := starts_with(user_id, 'space:');
    if idempotency_key is not null then
      perform memory._check_id('thread_id', thread_id);
      stored := memory._message_by_key(user_id, thread_id, agent_id, role, content, idempotency_key);
      if stored.seq is not null then
        return stored;
      end if;
    end if;
    role := memory._role(role);
    settled := memory._settled_metadata(coalesce(metadata, '{}'));
    metadata := settled[1];
    created_at := coalesce(created_at, statement_timestamp());
    if expires_at is not null or memory._may_be_long(content)
      or memory._message_problem(user_id, thread_id, agent_id, role, content, metadata, created_at, idempotency_key)
        is not null then
      select s.content, s.metadata, s.artifact_key, s.content_digest, s.memory_ref
      into content, metadata, artifact_key, content_digest, memory_ref
      from memory._settle_message(user_id, thread_id, agent_id, role, content, metadata, created_at, expires_at,
                                  idempotency_key) as s;
      -- An old message of an import may have expired since it was said. One that expires before it is said is a
      -- mistake, such as a wrong year.
      if expires_at <= least(created_at, statement_timestamp()) then
        raise notice 'degraded: nobody will read the message, expires_at is before created_at' using errcode = '01AM9',
          hint = 'Pass a later expires_at, or the created_at of an old message.';
      end if;
    end if;
    tokens := memory._estimated_tokens(content, metadata);
  end if;

  -- Booked first, then inserted under the number that is reserved for it. Policies and models are read in the same
  -- statement: a statement of their own would take 10 us. An insert with "on conflict", as in memory._append(), would
  -- take 3 % more instructions of the call.
  update memory.threads as t
  set next_seq = t.next_seq + 1,
      message_count = t.message_count + 1,
      active_tokens = t.active_tokens + tokens,
      tokens_since_summary = t.tokens_since_summary + tokens,
      first_at = least(t.first_at, add_message.created_at),
      last_at = greatest(t.last_at, add_message.created_at),
      settled_at = null
  where t.user_id = add_message.user_id and t.thread_id = add_message.thread_id
  returning t.next_seq - 1, t.message_count, t.active_tokens, t.tokens_since_summary,
    array(select p from memory.policies as p
          where memory._policy_applies(p.user_id, p.agent_id, add_message.user_id, add_message.agent_id)
            and memory._concerns_messages(p.settings)),
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active),
    current_setting('memory.seqs_reserved', true)
  into booked_seq, messages_now, tokens_now, tokens_since, layers, embeds, mark;

  if booked_seq is null or cardinality(layers) > 0
    or memory._may_be_due(memory._default_policy(), booked_seq, tokens, tokens_now, tokens_since, embeds)
  then
    if booked_seq is null then -- the first message of the thread
      mark := current_setting('memory.seqs_reserved', true);
      select b.first_seq, coalesce(add_message.expires_at, b.expires_at), b.masks into booked_seq, expires_at, masks
      from memory._append(user_id, thread_id, agent_id, 1, tokens, created_at, created_at,
                          memory._ends_round(role, metadata)) as b;
    else
      select b.first_seq, coalesce(add_message.expires_at, b.expires_at), b.masks into booked_seq, expires_at, masks
      from memory._after_booking(user_id, thread_id, agent_id, booked_seq, 1, tokens,
                                 memory._ends_round(role, metadata), messages_now, tokens_now, tokens_since, layers,
                                 embeds) as b;
    end if;
    if booked_seq is null then
      return row(null, content, tokens, null)::memory.stored_message;
    elsif masks is not null then
      select m.* into content, metadata, tokens
      from memory._mask_booked(user_id, thread_id, content, metadata, tokens, artifact_key, masks) as m;
    end if;
  end if;

  -- memory.seqs_reserved lets the row pass by the insert trigger. It is set back here, before triggers of the
  -- application's own run after the insert; statements that set it and set it back would take 3 % of the time.
  with noted as (
    insert into memory.new_changes (user_id, source, id, seq, operation)
    values (add_message.user_id, 'message', add_message.thread_id, booked_seq, 'added')
  )
  insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
    idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest, files)
  values (add_message.user_id, add_message.thread_id,
    case when set_config('memory.seqs_reserved', 'yes', true) = 'yes' then booked_seq end,
    add_message.agent_id, add_message.role, add_message.content, add_message.metadata, tokens,
    add_message.idempotency_key, add_message.created_at, statement_timestamp(),
    coalesce(add_message.expires_at, memory._message_expiry(memory._default_policy())),
    artifact_key, content_digest, settled[2])
  returning m.seq, m.content, m.token_count,
    case when set_config('memory.seqs_reserved', mark, true) is not null then memory_ref end into stored;
  if stored.seq is null then -- a trigger of the application's own has left the message out
    perform set_config('memory.seqs_reserved', mark, true);
    perform memory._unbook(user_id, thread_id, booked_seq, 1, tokens);
    perform memory._note_change(user_id, 'message', thread_id, 'deleted', booked_seq);
  elsif is_in_space then
    perform memory._note_writer(user_id, 'message', thread_id || '/' || stored.seq, true);
  end if;
  return stored;
end;
$$;
comment on function memory.add_message(text, text, text, text, text, jsonb, timestamptz, timestamptz, text) is
'Appends one message to a thread (created on first use) and returns it as stored. Never waits for a model. The same '
'idempotency_key in the same thread stores once: a repetition returns the stored message, other content is refused '
'(23505). A long message of a role in policy artifacts.roles is kept as an artifact: content then holds its '
'placeholder, which memory_ref repeats. For an agent without the resource memory nothing is stored: seq is null.';
