-- The one writer of messages: memory.add_message() and memory.add_messages() call it. The trigger of the table applies
-- the same rules by memory._message_in(), so that "insert into memory.messages ..." from psql obeys them, too.

-- Stores messages of one agent in a thread, and returns them in order. A message whose idempotency key has stored one
-- already is not stored again (p_has_keys: some messages may have keys). p_messages is the array in which the messages
-- came.
create or replace function memory._write_messages(
  p_user_id text, p_thread_id text, p_agent_id text, p_given memory.messages[], p_has_keys boolean,
  p_messages jsonb default null
)
returns memory.stored_message[]
language plpgsql volatile parallel unsafe
as $$
declare
  policy jsonb;
  masks text[];
  has_memory boolean;
  keyed record;
  known memory.stored_message[]; -- for each place in p_given: the message that its key has stored
  places int[]; -- for each place in p_given: the place in fresh of a message not stored yet
  given memory.messages;
  fresh memory.messages[];
  tokens bigint := 0;
  first_at timestamptz;
  last_at timestamptz;
  ends_round boolean := false;
  first_seq bigint;
  stored memory.stored_message[]; -- for each place in fresh
begin
  perform memory._check_id('user_id', p_user_id); -- before the function reads anything of the user
  policy := memory._policy(p_user_id, p_agent_id);
  masks := memory._masks(policy, true);
  has_memory := (policy #>> '{resources,memory}')::boolean;
  if p_has_keys and has_memory then
    keyed := memory._known_keys(p_user_id, p_thread_id, p_agent_id, p_given);
    known := keyed.known;
    places := keyed.places;
    p_given := keyed.fresh;
  end if;
  foreach given in array p_given loop
    given := memory._message_in(given, policy, masks, p_messages);
    fresh := fresh || given;
    tokens := tokens + given.token_count;
    first_at := least(first_at, given.created_at);
    last_at := greatest(last_at, given.created_at);
    ends_round := ends_round or memory._ends_round(given.role, given.metadata);
  end loop;

  if fresh is not null and not has_memory then
    perform memory._note_missing_resource(p_agent_id, 'memory', 'nothing is stored');
  elsif fresh is not null then
    first_seq := memory._book(
      p_user_id, p_thread_id, policy, cardinality(fresh), tokens, first_at, last_at, ends_round);
    with written as (
      insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
        idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest, files, utc_offset)
      select f.user_id, f.thread_id, first_seq + f.ordinality - 1, f.agent_id, f.role, f.content, f.metadata,
        f.token_count, f.idempotency_key, f.created_at, f.updated_at, f.expires_at, f.artifact_key, f.content_digest,
        f.files, f.utc_offset
      from unnest(fresh) with ordinality as f
      returning m.seq, m.content, m.token_count, memory._ref_in(m.content, m.artifact_key)
    )
    select array_agg(w::memory.stored_message order by w.seq) into stored from written as w;
    insert into memory.new_changes (user_id, source, id, seq, operation)
    select p_user_id, 'message', p_thread_id, s.seq, 'added' from unnest(stored) as s;
    if memory._is_space(p_user_id) then
      perform memory._note_writer(p_user_id, 'message', p_thread_id || '/' || s.seq, true) from unnest(stored) as s;
    end if;
  end if;
  if cardinality(stored) is distinct from cardinality(fresh) then -- a trigger has left out some or all
    if first_seq is not null then
      perform memory._unbook(p_user_id, p_thread_id, first_seq, fresh, stored);
    end if;
    stored := array(
      select row(s.seq, coalesce(s.content, f.content), coalesce(s.token_count, f.token_count), s.memory_ref)
        ::memory.stored_message
      from unnest(fresh) with ordinality as f
      left join unnest(stored) as s on s.seq = first_seq + f.ordinality - 1
      order by f.ordinality);
  end if;
  if known is null then
    return stored;
  end if;
  for place in 1 .. cardinality(places) loop
    if places[place] is not null then
      known[place] := stored[places[place]];
    end if;
  end loop;
  return known;
end;
$$;

-- Makes the row of a message from the arguments of a call, in the spelling in which it is stored. p_place is the place
-- in an array, counted from 0.
create or replace function memory._new_message(
  p_user_id text, p_thread_id text, p_agent_id text, p_role text, p_content text, p_metadata jsonb,
  p_created_at timestamptz, p_expires_at timestamptz, p_idempotency_key text, p_utc_offset smallint default null,
  p_place bigint default null, out made memory.messages -- by the names of its columns: a later version may have more
)
language plpgsql stable parallel safe
as $$
begin
  made.user_id := p_user_id;
  made.thread_id := p_thread_id;
  made.seq := p_place;
  made.agent_id := p_agent_id;
  made.role := memory._role(p_role);
  made.content := memory._text_of_message(made.role, p_content, p_metadata);
  made.metadata := coalesce(p_metadata, '{}');
  made.is_counted := false;
  made.idempotency_key := p_idempotency_key;
  made.created_at := coalesce(p_created_at, statement_timestamp());
  made.updated_at := statement_timestamp();
  made.expires_at := p_expires_at;
  made.is_active := true;
  if not memory._is_space(p_user_id) then -- several people count days in a space
    made.utc_offset := p_utc_offset;
  end if;
end;
$$;

-- Applies a policy to a message that memory._new_message() has made, and returns the message to store; its thread
-- numbers it afterwards. The caller has checked the user. seq is the place of the message in p_messages. If the message
-- is the result of a tool, the call of that tool may stand in p_messages.
create or replace function memory._message_in(
  p_message memory.messages, p_policy jsonb, p_masks text[], p_messages jsonb default null
)
returns memory.messages
language plpgsql volatile parallel unsafe
as $$
declare
  settled jsonb[]; -- metadata and files
begin
  if p_message.metadata <> '{}' then
    settled := memory._settled_metadata(p_message.metadata, memory._which(p_message.seq));
    p_message.metadata := settled[1];
    p_message.files := settled[2];
  end if;
  if memory._message_problem(p_message) is not null then -- inlined: the call would double the time of a batch
    perform memory._check_message(p_message, memory._which(p_message.seq));
  end if;
  if p_message.expires_at is null then
    p_message.expires_at := coalesce(
      statement_timestamp() + nullif(p_policy #>> '{messages,expires_after}', 'never')::interval, 'infinity');
  else
    perform memory._check_bound('expires_at', p_message.expires_at);
  end if;
  if p_masks <> '{}' then
    p_message.content := memory._masked_content(p_message.content, null, p_masks);
    p_message.metadata := memory._masked_metadata(p_message.metadata, p_masks);
  end if;
  if memory._may_be_long(p_message.content) then
    p_message := memory._shortened(p_message, p_policy, p_messages);
  end if;
  p_message.token_count := memory._estimated_tokens(p_message.content, p_message.metadata);
  return p_message;
end;
$$;

-- The text that errors add to the name of an argument, to name the message of an array.
create or replace function memory._which(p_place bigint)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(' of messages[' || p_place || ']', '');
end;
