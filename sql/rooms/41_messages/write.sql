-- The one writer of messages: memory.add_message() and memory.add_messages() call it. The trigger of the table applies
-- the same rules by memory._message_in(), so that "insert into memory.messages ..." from psql obeys them, too.

-- Stores messages of one agent in a thread, and returns them in order. What is stored under its idempotency key already
-- is not stored again. p_messages: the array that the messages came in, whose places errors name.
create or replace function memory._write_messages(
  p_user_id text, p_thread_id text, p_agent_id text, p_given memory.messages[], p_messages jsonb default null
)
returns setof memory.stored_message
language plpgsql volatile parallel unsafe
as $$
declare
  policy jsonb;
  masks text[];
  has_memory boolean;
  known memory.stored_message[]; -- by the place in p_given: what its key has stored
  first_places int[]; -- by the place in p_given: where its key stands first
  places int[] := '{}'; -- by the place in p_given: the place in fresh
  place int := 0;
  given memory.messages;
  fresh memory.messages[] := '{}';
  tokens bigint := 0;
  first_at timestamptz;
  last_at timestamptz;
  ends_round boolean := false;
  first_seq bigint;
  left_out int;
  stored memory.stored_message[] := '{}'; -- by the place in fresh
  written memory.stored_message;
begin
  perform memory._check_id('user_id', p_user_id); -- before anything of the user is read
  perform memory._check_id('thread_id', p_thread_id);
  perform memory._check_id('agent_id', p_agent_id);
  policy := memory._policy(p_user_id, p_agent_id);
  masks := memory._masks(policy, true);
  has_memory := (policy #>> '{resources,memory}')::boolean;
  if has_memory and exists (select from unnest(p_given) as g where g.idempotency_key is not null) then
    select k.known, k.first_places into known, first_places
    from memory._known_keys(p_user_id, p_thread_id, p_agent_id, p_given) as k;
  end if;

  foreach given in array p_given loop
    place := place + 1;
    if known is null or (known[place]).seq is null and first_places[place] = place then
      given := memory._message_in(given, policy, masks, p_messages, place);
      given.seq := cardinality(fresh);
      fresh := fresh || given;
      tokens := tokens + given.token_count;
      first_at := least(first_at, given.created_at);
      last_at := greatest(last_at, given.created_at);
      ends_round := ends_round or memory._ends_round(given.role, given.metadata);
    end if;
    places := places || cardinality(fresh);
  end loop;

  if not has_memory then
    perform memory._note_missing_resource(p_agent_id, 'memory', 'nothing is stored');
  elsif fresh <> '{}' then
    first_seq := memory._book(
      p_user_id, p_thread_id, p_agent_id, policy, cardinality(fresh), tokens, first_at, last_at, ends_round);
    left_out := cardinality(fresh);
    for written in
      insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
        idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest, files, utc_offset)
      select f.user_id, f.thread_id, first_seq + f.seq, f.agent_id, f.role, f.content, f.metadata, f.token_count,
        f.idempotency_key, f.created_at, f.updated_at, f.expires_at, f.artifact_key, f.content_digest, f.files,
        f.utc_offset
      from unnest(fresh) as f
      returning m.seq, m.content, m.token_count, memory._ref_in(m.content, m.artifact_key)
    loop
      place := written.seq - first_seq + 1;
      stored[place] := written;
      left_out := left_out - 1;
      tokens := tokens - (fresh[place]).token_count;
      if memory._is_space(p_user_id) then
        perform memory._note_writer(p_user_id, 'message', p_thread_id || '/' || written.seq, true);
      end if;
    end loop;
    if left_out > 0 then -- by a trigger of the application's own
      perform memory._unbook(p_user_id, p_thread_id, coalesce(written.seq + 1, first_seq), left_out, tokens);
    end if;
  end if;
  for place in 1 .. cardinality(places) loop
    return next case
      when (known[place]).seq is not null then known[place]
      when (stored[places[place]]).seq is not null then stored[places[place]]
      else row(null, (fresh[places[place]]).content, (fresh[places[place]]).token_count, null)::memory.stored_message end;
  end loop;
end;
$$;

-- What is stored of a message that somebody passes, under a policy; its thread numbers it afterwards. The caller has
-- checked the user. With p_messages the message stands at p_place of that array, where the call of the tool may stand
-- that it is the result of.
create or replace function memory._message_in(
  p_message memory.messages, p_policy jsonb, p_masks text[], p_messages jsonb default null, p_place int default null
)
returns memory.messages
language plpgsql volatile parallel unsafe
as $$
declare
  which constant text := case when p_messages is null then '' else format(' of messages[%s]', p_place - 1) end;
  settled jsonb[]; -- metadata and files
begin
  p_message.role := memory._role(p_message.role);
  p_message.metadata := coalesce(p_message.metadata, '{}');
  if p_message.metadata <> '{}' then
    settled := memory._settled_metadata(p_message.metadata, which);
    p_message.metadata := settled[1];
    p_message.files := settled[2];
  end if;
  p_message.content := memory._text_of_message(p_message.role, p_message.content, p_message.metadata);
  p_message.created_at := coalesce(p_message.created_at, statement_timestamp());
  if memory._message_problem(p_message.user_id, p_message.thread_id, p_message.agent_id, p_message.role,
                             p_message.content, p_message.metadata, p_message.created_at, p_message.idempotency_key)
    is not null then
    perform memory._refuse_message(p_message.user_id, p_message.thread_id, p_message.agent_id, p_message.role,
                                   p_message.content, p_message.metadata, p_message.created_at,
                                   p_message.idempotency_key, which);
  end if;
  if p_message.expires_at is null then
    p_message.expires_at := memory._message_expiry(p_policy);
  else
    perform memory._check_bound('expires_at', p_message.expires_at);
    -- An old message of an import may have expired since it was said. One that expires before it is said is a mistake,
    -- such as a wrong year.
    if p_message.expires_at <= least(p_message.created_at, statement_timestamp()) then
      raise notice 'degraded: nobody will read the message, expires_at is before created_at' using errcode = '01AM9',
        hint = 'Pass a later expires_at, or the created_at of an old message.';
    end if;
  end if;
  if memory._is_space(p_message.user_id) then
    p_message.utc_offset := null; -- several people count days there
  end if;
  if p_masks <> '{}' then
    p_message.content := memory._masked_content(p_message.content, p_message.artifact_key, p_masks);
    p_message.metadata := memory._masked_metadata(p_message.metadata, p_masks);
  end if;
  if memory._may_be_long(p_message.content) then
    p_message := memory._shortened(p_message, p_policy, p_messages);
  end if;
  p_message.token_count := memory._estimated_tokens(p_message.content, p_message.metadata);
  p_message.updated_at := statement_timestamp();
  return p_message;
end;
$$;

-- A message as somebody passes it.
create or replace function memory._new_message(
  p_user_id text, p_thread_id text, p_agent_id text, p_role text, p_content text, p_metadata jsonb,
  p_created_at timestamptz, p_expires_at timestamptz, p_idempotency_key text, p_utc_offset smallint default null
)
returns memory.messages
language sql immutable parallel safe
begin atomic
  select row(p_user_id, p_thread_id, null, p_agent_id, p_role, p_content, p_metadata, null, false, null,
    p_idempotency_key, p_created_at, null, p_expires_at, true, null, null, null, p_utc_offset)::memory.messages;
end;
