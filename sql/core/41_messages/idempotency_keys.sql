-- Divides the messages of a call, p_given, into those to store (fresh) and those whose idempotency key has stored a
-- message already (known). For each place in p_given either known has the stored message, or places has the place in
-- fresh; messages with one key share a place. Refuses a key under which another message is stored, or stands earlier in
-- p_given. Locks the thread until the transaction ends, so that no other session stores one of the keys meanwhile.
create or replace function memory._known_keys(
  p_user_id text, p_thread_id text, p_agent_id text, p_given memory.messages[],
  out known memory.stored_message[], out places int[], out fresh memory.messages[]
)
language plpgsql volatile parallel unsafe
as $$
declare
  keyed record;
begin
  perform memory._check_id('thread_id', p_thread_id);
  perform memory._lock_thread(p_user_id, p_thread_id);
  fresh := '{}';
  for keyed in
    with given as (
      select row_number() over () as place, g as message, g.idempotency_key as key, g.role, g.content,
        case when num_nonnulls(g.idempotency_key, g.role, g.content) = 3 -- the rules refuse the others
          then memory._message_digest(g.role, g.content) end as digest
      from unnest(p_given) as g
    )
    select g.message, g.key, g.digest, nullif(min(g.place) over same_key, g.place) as first_place, m.seq,
      m.content as placeholder, m.token_count, m.memory_ref, memory._content_under(
        coalesce(nullif(m.digest, ''), first_value(g.digest) over same_key), g.role, g.content, p_user_id, p_agent_id)
        as content
    from given as g
    left join memory._messages_by_keys(
      p_user_id, p_thread_id, array(select distinct k.key from given as k where k.digest is not null)) as m
      on m.idempotency_key = g.key and g.digest is not null
    window same_key as (partition by g.key, case when g.digest is null then g.place end order by g.place)
    order by g.place
  loop
    if keyed.digest is not null and keyed.content is null then
      perform memory._refuse('idempotency_key', format('"%s" is used in this thread for another message', keyed.key),
        'Use one key per message.', '23505');
    end if;
    known := known || row(keyed.seq, coalesce(keyed.placeholder, keyed.content), keyed.token_count, keyed.memory_ref)
      ::memory.stored_message;
    if keyed.seq is null and keyed.first_place is null then
      fresh := fresh || keyed.message;
    end if;
    places := places || case
      when keyed.seq is not null then null
      when keyed.first_place is not null then places[keyed.first_place]
      else cardinality(fresh) end;
  end loop;
end;
$$;

-- Returns p_content in the form that has this digest: unchanged, or with marks. Returns null if neither has it, because
-- then the key was used for another message. The key of a forgotten message has an empty digest, and matches any
-- message: nothing more is stored under it.
create or replace function memory._content_under(
  p_digest text, p_role text, p_content text, p_user_id text, p_agent_id text
)
returns text
language plpgsql stable parallel unsafe strict
as $$
declare
  masked text;
begin
  if p_digest in ('', memory._message_digest(p_role, p_content)) then
    return p_content;
  end if;
  -- Tries the marks of the policy of now, and then those of credentials alone, because the policy may have changed.
  masked := memory._masked(p_content, memory._masks(memory._policy(p_user_id, p_agent_id), true));
  if p_digest = memory._message_digest(p_role, masked) then
    return masked;
  end if;
  masked := memory._without_credentials(p_content);
  return case when p_digest = memory._message_digest(p_role, masked) then masked end;
end;
$$;

-- SHA-256 of role and content.
create or replace function memory._message_digest(p_role text, p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return encode(sha256(convert_to(p_role || ' ' || p_content, 'UTF8')), 'hex');
end;
$$;

-- The messages of a thread under these keys, including messages that memory.sweep() has removed since. content and
-- memory_ref are set only if an artifact keeps the text of the message, because only then content differs from the text
-- that the caller passed. Each key is looked up by itself: "limit 1" keeps the planner from another join, and "is not
-- distinct from" keeps it from the primary key, by which a plan made for an empty table would read the whole thread.
-- The plan is generic, because planning in each call would take nearly half of the time of a message with a key.
create or replace function memory._messages_by_keys(p_user_id text, p_thread_id text, p_idempotency_keys text[])
returns table (idempotency_key text, seq bigint, digest text, token_count int, content text, memory_ref text)
language plpgsql stable parallel safe
set plan_cache_mode = force_generic_plan
as $$
begin
  return query
  select m.idempotency_key, m.seq, memory._stored_digest(m), m.token_count,
    case when m.artifact_key is not null then m.content end, memory._ref_in(m.content, m.artifact_key)
  from unnest(p_idempotency_keys) as k (idempotency_key)
  cross join lateral (
    select * from memory.messages as m
    where m.user_id = p_user_id and m.idempotency_key = k.idempotency_key
      and m.thread_id is not distinct from p_thread_id
    limit 1) as m
  union all
  select s.idempotency_key, s.seq, s.digest, s.token_count, null, null
  from unnest(p_idempotency_keys) as k (idempotency_key)
  cross join lateral (
    select * from memory.idempotency_keys as s
    where s.user_id = p_user_id and s.thread_id = p_thread_id and s.idempotency_key = k.idempotency_key
    limit 1) as s;
end;
$$;

-- The digest of the text that a stored message had before an artifact or a quarantine took its place.
create or replace function memory._stored_digest(p_message memory.messages)
returns text
language plpgsql stable parallel safe
as $$
declare
  quarantined text;
begin
  if starts_with(p_message.content, memory._quarantine_notice()) then
    select q.content_digest into quarantined from memory.quarantined_messages as q
    where q.user_id = p_message.user_id and q.thread_id = p_message.thread_id and q.seq = p_message.seq;
  end if;
  return coalesce(p_message.content_digest, quarantined, memory._message_digest(p_message.role, p_message.content));
end;
$$;

-- Locks the thread's row until the transaction ends, and creates the row when it is missing.
create or replace function memory._lock_thread(p_user_id text, p_thread_id text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  loop -- because another transaction may delete the thread while this one waits for the lock
    perform from memory.threads as t where t.user_id = p_user_id and t.thread_id = p_thread_id for no key update;
    exit when found;
    insert into memory.threads as t (user_id, thread_id) values (p_user_id, p_thread_id)
    on conflict on constraint threads_pkey do nothing;
  end loop;
end;
$$;
