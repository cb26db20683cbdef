create or replace function memory.add_messages(
  user_id text, thread_id text, messages jsonb, agent_id text default 'default'
)
returns setof memory.stored_message
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  settings jsonb; -- for long messages
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', agent_id);
  perform memory._check_messages(messages);

  perform set_config('memory.seqs_reserved', 'yes', true);
  if jsonb_path_exists(messages, '$[*].idempotency_key ? (@ != null)')
    and memory._has_resource(user_id, agent_id, 'memory') then -- otherwise the look for keys would create the thread
    return query select * from memory._add_keyed_messages(user_id, thread_id, messages, agent_id);
  else
    settings := memory._policy_section(user_id, agent_id, 'artifacts');
    -- The thread is booked once for all messages, which are then inserted under the reserved numbers. 1,000 updates of
    -- the thread's row in one transaction and 1,000 calls of a row trigger would take ten times as long as the inserts.
    return query
    with parsed as materialized (
      select p.*, case when memory._may_be_long(p.content) then
          memory._shorten(settings, add_messages.user_id, add_messages.thread_id, add_messages.agent_id, p.role,
                          p.content, p.metadata, false, add_messages.messages) end as short
      from memory._parse_messages(add_messages.messages) as p
    ), booked as materialized (
      select a.first_seq, a.expires_at
      from (select count(*)::int as messages, sum(coalesce((p.short).token_count, p.token_count)) as tokens,
              min(p.created_at) as first_at, max(p.created_at) as last_at,
              bool_or(p.ends_round) as ends_round
            from parsed as p having count(*) > 0) as b
      cross join lateral memory._append(add_messages.user_id, add_messages.thread_id, add_messages.agent_id,
                                        b.messages, b.tokens, b.first_at, b.last_at, b.ends_round) as a
    )
    insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
      created_at, updated_at, expires_at, artifact_key, content_digest)
    select add_messages.user_id, add_messages.thread_id, b.first_seq + p.seq, add_messages.agent_id, p.role,
      coalesce((p.short).content, p.content), coalesce((p.short).metadata, p.metadata),
      coalesce((p.short).token_count, p.token_count), p.created_at, statement_timestamp(), b.expires_at,
      (p.short).artifact_key, (p.short).content_digest
    from booked as b cross join parsed as p
    where b.first_seq is not null
    order by p.seq
    returning m.seq, m.content, m.token_count, memory._ref_in(m.content, m.artifact_key);
    if not found and messages <> '[]' then
      perform memory._note_missing_resource(agent_id, 'memory', 'nothing is stored');
      return query
      select null::bigint, p.content, p.token_count, null::text
      from memory._parse_messages(add_messages.messages) as p order by p.seq;
    end if;
  end if;
  perform set_config('memory.seqs_reserved', '', true);
exception
  when data_exception then
    perform memory._refuse_times(messages);
    raise;
end;
$$;
comment on function memory.add_messages(text, text, jsonb, text) is
'Appends an array of OpenAI chat messages in one call and returns them as stored, in order; all or none. '
'Each message may also have created_at, metadata and idempotency_key. '
'tool_calls, tool_call_id and name are kept in metadata. For an agent without the resource memory nothing is stored: '
'every seq is null.';

-- Adds messages of which some have idempotency keys. A message is not stored again when one with its key is stored
-- already or stands earlier in the array. The thread is locked first, so that nobody else adds one of the keys between
-- the look-up and the insert.
create or replace function memory._add_keyed_messages(
  p_user_id text, p_thread_id text, p_messages jsonb, p_agent_id text
)
returns setof memory.stored_message
language plpgsql volatile parallel unsafe
as $$
declare
  settings constant jsonb := memory._policy_section(p_user_id, p_agent_id, 'artifacts');
  keys text[];
  conflict text;
begin
  perform memory._lock_thread(p_user_id, p_thread_id);
  select array_agg(distinct p.idempotency_key) filter (where p.idempotency_key is not null) into keys
  from memory._parse_messages(p_messages) as p;
  conflict := memory._conflicting_key(p_user_id, p_thread_id, p_messages, keys, false);
  if conflict is not null then -- the message may be stored with marks in place of its credentials
    conflict := memory._conflicting_key(p_user_id, p_thread_id, p_messages, keys, true);
  end if;
  if conflict is not null then
    perform memory._refuse_used_key(conflict);
  end if;

  return query
  with parsed as materialized (
    select p.*, m.seq as stored_seq, m.content as stored_content, m.token_count as stored_tokens,
      m.memory_ref as stored_ref,
      case
        when p.idempotency_key is null then p.seq
        else min(p.seq) over (partition by p.idempotency_key)
      end as first_place
    from memory._parse_messages(p_messages) as p
    left join memory._messages_by_keys(p_user_id, p_thread_id, keys) as m on m.idempotency_key = p.idempotency_key
  ), fresh as materialized (
    select p.*, row_number() over (order by p.seq) - 1 as place,
      case when memory._may_be_long(p.content) then
        memory._shorten(settings, p_user_id, p_thread_id, p_agent_id, p.role, p.content, p.metadata,
                        p.idempotency_key is not null, p_messages) end as short
    from parsed as p
    where p.stored_seq is null and p.seq = p.first_place
  ), booked as materialized (
    select a.first_seq, a.expires_at
    from (select count(*)::int as messages, sum(coalesce((f.short).token_count, f.token_count)) as tokens,
            min(f.created_at) as first_at, max(f.created_at) as last_at, bool_or(f.ends_round) as ends_round
          from fresh as f having count(*) > 0) as b
    cross join lateral memory._append(p_user_id, p_thread_id, p_agent_id,
                                      b.messages, b.tokens, b.first_at, b.last_at, b.ends_round) as a
  ), inserted as (
    insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
      idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest)
    select p_user_id, p_thread_id, b.first_seq + f.place, p_agent_id, f.role, coalesce((f.short).content, f.content),
      coalesce((f.short).metadata, f.metadata), coalesce((f.short).token_count, f.token_count), f.idempotency_key,
      f.created_at, statement_timestamp(), b.expires_at, (f.short).artifact_key, (f.short).content_digest
    from booked as b cross join fresh as f
  )
  select coalesce(p.stored_seq, b.first_seq + f.place),
    coalesce(p.stored_content, (f.short).content, p.content),
    coalesce(p.stored_tokens, (f.short).token_count, p.token_count), coalesce(p.stored_ref, (f.short).memory_ref)
  from parsed as p
  left join booked as b on true
  left join fresh as f on f.seq = p.first_place
  where p.stored_seq is not null or b.first_seq is not null
  order by p.seq;
end;
$$;

-- A key under which another message is stored, or another one stands earlier in the array; null when there is none.
-- With p_is_masked a message is also the same when it is stored with marks in place of its credentials.
create or replace function memory._conflicting_key(
  p_user_id text, p_thread_id text, p_messages jsonb, p_keys text[], p_is_masked boolean
)
returns text
language plpgsql volatile parallel unsafe -- volatile, so that it sees what the lock of the thread has waited for
as $$
begin
  -- min() and not "limit 1", for which the planner would choose a nested loop in the hope of an early hit
  return (
    select min(k.idempotency_key)
    from (select d.*, first_value(d.digest) over (partition by d.idempotency_key order by d.seq) as first_digest
          from (select p.idempotency_key, p.seq, memory._message_digest(p.role, p.content) as digest,
                  case when p_is_masked
                    then memory._message_digest(p.role, memory._without_credentials(p.content)) end as masked_digest
                from memory._parse_messages(p_messages) as p
                where p.idempotency_key is not null
                offset 0) as d) as k
    left join memory._messages_by_keys(p_user_id, p_thread_id, p_keys) as m on m.idempotency_key = k.idempotency_key
    where k.digest <> coalesce(nullif(m.digest, ''), k.first_digest) and (k.masked_digest = m.digest) is not true);
end;
$$;
