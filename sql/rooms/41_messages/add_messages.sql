create or replace function memory.add_messages(
  user_id text, thread_id text, messages jsonb, agent_id text default 'default'
)
returns setof memory.stored_message
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  masks text[];
  keys text[];
  conflict text;
  mark constant text := current_setting('memory.seqs_reserved', true);
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', agent_id);
  perform memory._check_messages(messages);
  -- One message takes half of the instructions of the statement for many, but add_message() takes no offset from UTC.
  -- In a space each message has its writer noted, and no offset, because several people count days there.
  if jsonb_array_length(messages) = 1 and memory._utc_offset(messages #>> '{0,created_at}') is null
    or starts_with(user_id, 'space:') then
    return query
    select s.*
    from memory._parse_messages(messages) as p
    cross join lateral memory.add_message(
      add_messages.user_id, add_messages.thread_id, p.role, p.content, add_messages.agent_id,
      case when p.files is null then p.metadata else memory._with_files(p.metadata, p.files) end,
      nullif(p.created_at, statement_timestamp()), null, p.idempotency_key) as s
    where p.is_valid;
    return;
  end if;
  policy := memory._policy(user_id, agent_id);
  masks := nullif(memory._masks(policy, true), '{}');

  -- A message is not stored again when one with its key is stored already or stands earlier in the array. The thread is
  -- locked first, so that nobody else adds one of the keys between the look-up and the insert. For an agent without the
  -- resource memory that would create the thread.
  if (policy #>> '{resources,memory}')::boolean
    and jsonb_path_exists(messages, '$[*].idempotency_key.type() ? (@ != "null")') then
    perform memory._lock_thread(user_id, thread_id);
    keys := array(select distinct m.message ->> 'idempotency_key' from jsonb_array_elements(messages) as m (message)
                  where m.message ->> 'idempotency_key' is not null);
    -- A key under which another message is stored, or another one stands earlier in the array. min() and not "limit 1",
    -- for which the planner would choose a nested loop in the hope of an early hit.
    select min(k.idempotency_key) into conflict
    from (select p.idempotency_key, p.role, p.content,
            first_value(memory._message_digest(p.role, p.content)) over (partition by p.idempotency_key order by p.seq)
              as first_digest
          from memory._parse_messages(messages) as p
          where num_nonnulls(p.idempotency_key, p.role, p.content) = 3) as k -- the others are refused below
    left join memory._messages_by_keys(user_id, thread_id, keys) as m on m.idempotency_key = k.idempotency_key
    where memory._content_under(
      coalesce(nullif(m.digest, ''), k.first_digest), k.role, k.content, add_messages.user_id, add_messages.agent_id)
        is null;
    if conflict is not null then
      perform memory._refuse_used_key(conflict);
    end if;
  end if;

  -- The thread is booked once for all messages, which are then inserted under the reserved numbers. To update the
  -- thread's row 1,000 times in one transaction and to call a row trigger 1,000 times would take ten times as long as
  -- the inserts. If nothing is booked, b.first_seq and with it every seq is null. left_out is read only if a message
  -- was booked and not stored, because a trigger of the application's own has left it out.
  --
  -- Messages without keys have a statement of their own: with the look for repetitions, one message took 1.9 times the
  -- processor time, and 1,000 messages 1.2 times.
  if keys is null then
    return query
    with fresh as materialized (
      select m.*, memory._estimated_tokens(m.content, m.metadata) as token_count
      from (
        select s.seq, s.role, s.created_at, s.utc_offset, s.ends_round, s.is_valid, s.short, s.files,
          case when (s.short).artifact_key is not null then (s.short).content
            when masks is not null then memory._masked(s.content, masks) else s.content end as content,
          case when (s.short).artifact_key is not null then (s.short).metadata
            when masks is not null then memory._masked_metadata(s.metadata, masks) else s.metadata end as metadata
        from (
          select p.*,
            case when memory._may_be_long(p.content) then
              memory._shorten(policy -> 'artifacts', add_messages.user_id, add_messages.thread_id,
                              add_messages.agent_id, p.role, p.content, p.metadata, false, add_messages.messages)
            end as short
          from memory._parse_messages(add_messages.messages) as p
          offset 0) as s
        offset 0 -- each column is computed once
      ) as m
    ), booked as materialized (
      select case when set_config('memory.seqs_reserved', 'yes', true) = 'yes' then a.first_seq end as first_seq,
        a.expires_at
      from (select count(*)::int as messages, sum(f.token_count) as tokens, min(f.created_at) as first_at,
              max(f.created_at) as last_at, bool_or(f.ends_round) as ends_round
            from fresh as f having count(*) > 0) as b
      cross join lateral memory._append(add_messages.user_id, add_messages.thread_id, add_messages.agent_id, b.messages,
                                        b.tokens, b.first_at, b.last_at, b.ends_round) as a
    ), inserted as (
      insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
        created_at, updated_at, expires_at, artifact_key, content_digest, files,
        utc_offset)
      select add_messages.user_id, add_messages.thread_id, b.first_seq + f.seq, add_messages.agent_id, f.role,
        f.content, f.metadata, f.token_count, f.created_at, statement_timestamp(), b.expires_at,
        (f.short).artifact_key, (f.short).content_digest, f.files, f.utc_offset
      from booked as b cross join fresh as f
      where b.first_seq is not null
      order by f.seq
      returning m.seq, m.content, m.token_count
    ), noted as (
      insert into memory.new_changes (user_id, source, id, seq, operation)
      select add_messages.user_id, 'message', add_messages.thread_id, i.seq, 'added' from inserted as i
    ), left_out as (
      select null::bigint as seq
      from (select memory._unbook(add_messages.user_id, add_messages.thread_id,
                                  coalesce(max(i.seq) + 1, min(b.first_seq)), (count(*) - count(i.seq))::int,
                                  sum(f.token_count) filter (where i.seq is null))
            from booked as b cross join fresh as f
            left join inserted as i on i.seq = b.first_seq + f.seq
            where b.first_seq is not null having count(*) > 0) as u
    )
    select coalesce(i.seq, (select l.seq from left_out as l)), coalesce(i.content, f.content),
      coalesce(i.token_count, f.token_count), (f.short).memory_ref
    from fresh as f
    left join booked as b on true
    left join inserted as i on i.seq = b.first_seq + f.seq
    order by f.seq;
  else
    return query
    with parsed as materialized (
      select p.*, m.seq as stored_seq, m.token_count as stored_tokens, m.memory_ref as stored_ref,
        coalesce(m.content, memory._content_under(m.digest, p.role, p.content, add_messages.user_id,
                                                  add_messages.agent_id)) as stored_content,
        case
          when p.idempotency_key is null then p.seq
          else min(p.seq) over (partition by p.idempotency_key)
        end as first_place
      from memory._parse_messages(add_messages.messages) as p
      left join memory._messages_by_keys(add_messages.user_id, add_messages.thread_id, keys) as m
        on m.idempotency_key = p.idempotency_key
    ), fresh as materialized (
      select m.*, memory._estimated_tokens(m.content, m.metadata) as token_count
      from (
        select s.seq, s.role, s.created_at, s.utc_offset, s.idempotency_key, s.ends_round, s.place, s.short, s.files,
          case when (s.short).artifact_key is not null then (s.short).content
            when masks is not null then memory._masked(s.content, masks) else s.content end as content,
          case when (s.short).artifact_key is not null then (s.short).metadata
            when masks is not null then memory._masked_metadata(s.metadata, masks) else s.metadata end as metadata
        from (
          select p.*, row_number() over (order by p.seq) - 1 as place,
            case when memory._may_be_long(p.content) then
              memory._shorten(policy -> 'artifacts', add_messages.user_id, add_messages.thread_id,
                              add_messages.agent_id, p.role, p.content, p.metadata, p.idempotency_key is not null,
                              add_messages.messages)
            end as short
          from parsed as p
          where p.stored_seq is null and p.seq = p.first_place) as s
        offset 0 -- each column is computed once
      ) as m
    ), booked as materialized (
      select case when set_config('memory.seqs_reserved', 'yes', true) = 'yes' then a.first_seq end as first_seq,
        a.expires_at
      from (select count(*)::int as messages, sum(f.token_count) as tokens, min(f.created_at) as first_at,
              max(f.created_at) as last_at, bool_or(f.ends_round) as ends_round
            from fresh as f having count(*) > 0) as b
      cross join lateral memory._append(add_messages.user_id, add_messages.thread_id, add_messages.agent_id, b.messages,
                                        b.tokens, b.first_at, b.last_at, b.ends_round) as a
    ), inserted as (
      insert into memory.messages as m (user_id, thread_id, seq, agent_id, role, content, metadata, token_count,
        idempotency_key, created_at, updated_at, expires_at, artifact_key, content_digest, files,
        utc_offset)
      select add_messages.user_id, add_messages.thread_id, b.first_seq + f.place, add_messages.agent_id, f.role,
        f.content, f.metadata, f.token_count, f.idempotency_key, f.created_at, statement_timestamp(), b.expires_at,
        (f.short).artifact_key, (f.short).content_digest, f.files, f.utc_offset
      from booked as b cross join fresh as f
      where b.first_seq is not null
      order by f.place
      returning m.seq, m.content, m.token_count
    ), noted as (
      insert into memory.new_changes (user_id, source, id, seq, operation)
      select add_messages.user_id, 'message', add_messages.thread_id, i.seq, 'added' from inserted as i
    ), left_out as (
      select null::bigint as seq
      from (select memory._unbook(add_messages.user_id, add_messages.thread_id,
                                  coalesce(max(i.seq) + 1, min(b.first_seq)), (count(*) - count(i.seq))::int,
                                  sum(f.token_count) filter (where i.seq is null))
            from booked as b cross join fresh as f
            left join inserted as i on i.seq = b.first_seq + f.place
            where b.first_seq is not null having count(*) > 0) as u
    )
    select coalesce(p.stored_seq, i.seq, (select l.seq from left_out as l)),
      coalesce(p.stored_content, i.content, f.content, p.content),
      coalesce(p.stored_tokens, i.token_count, f.token_count), coalesce(p.stored_ref, (f.short).memory_ref)
    from parsed as p
    left join booked as b on true
    left join fresh as f on f.seq = p.first_place
    left join inserted as i on i.seq = b.first_seq + f.place
    order by p.seq;
  end if;
  perform set_config('memory.seqs_reserved', mark, true);
exception
  when data_exception then
    perform memory._refuse_times('messages', messages, array['created_at']);
    raise;
end;
$$;
comment on function memory.add_messages(text, text, jsonb, text) is
'Appends an array of OpenAI chat messages in one call and returns them as stored, in order; all or none. '
'Each message may also have created_at, metadata and idempotency_key. '
'tool_calls, tool_call_id and name are kept in metadata. For an agent without the resource memory nothing is stored: '
'every seq is null.';
