-- The rules of messages. They live in triggers, so that "insert into memory.messages ..." from psql obeys them too.

-- Appends message_count messages to a thread's books: numbers them, counts them, and queues the model work that is due.
-- Every append of one thread passes here and waits for the one before it; that is what makes seq gapless and counters
-- exact. Appends never wait for a model: they only insert a job unless one is open.
create or replace function memory._append(
  user_id text, thread_id text, agent_id text, message_count int, token_count bigint,
  first_at timestamptz, last_at timestamptz, ends_round boolean,
  out first_seq bigint, out expires_at timestamptz
)
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  layers memory.policies[];
  policy jsonb;
  cadence jsonb;
  lifetime text;
  last_seq bigint;
  every_n int;
  messages_now bigint;
  tokens_now bigint;
  embeds boolean;
begin
  -- Policy and models are read in the same statement: one executor start less on the hottest path.
  insert into memory.threads as t (user_id, thread_id, next_seq, message_count, active_tokens, first_at, last_at)
  values (_append.user_id, _append.thread_id, _append.message_count, _append.message_count, _append.token_count,
          _append.first_at, _append.last_at)
  on conflict on constraint threads_pkey do update
  set next_seq = t.next_seq + excluded.next_seq,
      message_count = t.message_count + excluded.message_count,
      active_tokens = t.active_tokens + excluded.active_tokens,
      first_at = least(t.first_at, excluded.first_at),
      last_at = greatest(t.last_at, excluded.last_at)
  returning t.next_seq - _append.message_count, t.message_count, t.active_tokens,
    array(select p from memory.policies as p where p.user_id in ('', _append.user_id) and p.agent_id in ('', _append.agent_id)),
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
  into first_seq, messages_now, tokens_now, layers, embeds;
  policy := memory._effective_policy(layers);
  lifetime := policy #>> '{messages,expires_after}';
  expires_at := case when lifetime = 'never' then 'infinity' else statement_timestamp() + lifetime::interval end;

  last_seq := first_seq + message_count - 1;
  cadence := policy -> 'cadence';
  every_n := (cadence ->> 'fact_extraction_every_n')::int;
  if every_n > 0 and (last_seq + 1) / every_n > first_seq / every_n then
    perform memory._enqueue_due(user_id, 'extract_memories', thread_id);
  end if;
  every_n := (cadence ->> 'thread_summary_every_n')::int;
  if (case when every_n > 0 then (last_seq + 1) / every_n > first_seq / every_n
           else ends_round and last_seq >= (policy #>> '{summary,start_seq}')::bigint and (policy #>> '{summary,enabled}')::boolean end) then
    perform memory._enqueue_due(user_id, 'summarize_thread', thread_id);
  end if;
  if tokens_now >= (policy #>> '{compression,threshold_tokens}')::bigint then
    perform memory._enqueue_compression(user_id, thread_id, message_count, token_count, messages_now, tokens_now, policy -> 'compression');
  end if;
  every_n := (cadence ->> 'user_summary_every_n')::int;
  if every_n > 0 then
    perform memory._enqueue_user_summary(user_id, message_count, every_n);
  end if;
  if embeds and (policy #>> '{search,embed_messages}')::boolean then
    perform memory._enqueue_due(user_id, 'embed', thread_id);
  end if;
end;
$$;

-- Over the threshold each message asks. A thread whose newest messages alone are over it would be compressed message by
-- message, so what can be summarised has to be worth a call: a tenth of the threshold.
create or replace function memory._enqueue_compression(
  user_id text, thread_id text, appended int, appended_tokens bigint, messages_now bigint, tokens_now bigint, compression jsonb
)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  keep int := (compression ->> 'recent_messages_to_keep')::int;
  kept_tokens numeric;
begin
  if not (compression ->> 'enabled')::boolean or messages_now <= keep or memory._is_queued(user_id, 'compress_thread', thread_id) then
    return;
  end if;
  -- The appended messages are not stored yet; of a batch larger than what is kept, all are taken for equally long. The
  -- job looks again.
  select coalesce(sum(k.token_count), 0) + appended_tokens * least(1, keep / appended::numeric) into kept_tokens
  from (select m.token_count from memory.messages as m
        where m.user_id = _enqueue_compression.user_id and m.thread_id = _enqueue_compression.thread_id and m.is_active
        order by m.seq desc limit greatest(keep - appended, 0)) as k;
  if tokens_now - kept_tokens >= (compression ->> 'threshold_tokens')::bigint / 10 then
    perform memory._enqueue_due(user_id, 'compress_thread', thread_id);
  end if;
end;
$$;

-- The messages of all threads of a user count. Those of transactions under way elsewhere are not seen yet: the job may
-- come a message later than the policy says, which costs less than one counter that all threads of a user wait for.
create or replace function memory._enqueue_user_summary(user_id text, message_count int, every_n int)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  messages bigint;
begin
  select sum(t.next_seq) into messages from memory.threads as t where t.user_id = _enqueue_user_summary.user_id;
  if messages / every_n > (messages - message_count) / every_n then
    perform memory._enqueue_due(user_id, 'summarize_user', '');
  end if;
end;
$$;

-- What a message without text may consist of. Inlined by the planner, hence no SET clause.
create or replace function memory._has_parts(metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select metadata ?| array['tool_calls', 'function_call', 'refusal', 'audio', 'content'];
end;

-- The rules of a message, and the error that says which one it breaks. which says which one of several messages.
create or replace function memory._check_message(
  user_id text, thread_id text, agent_id text, role text, content text, metadata jsonb, created_at timestamptz, idempotency_key text, which text default ''
)
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', agent_id);
  if (role in ('user', 'assistant', 'tool', 'system', 'developer')) is not true then
    perform memory._refuse('role' || which, case when role is null then 'must not be null' else format('unknown role "%s"', left(role, 50)) end,
      'Use user, assistant, tool, system or developer; agent is accepted for assistant.');
  end if;
  perform memory._check_metadata(metadata, which);
  if (content = '' and memory._has_parts(metadata)) is not true then
    perform memory._check_content(content, 10485760, which);
  end if;
  perform memory._check_moment('created_at' || which, created_at);
  if octet_length(idempotency_key) not between 1 and 255 then
    perform memory._refuse('idempotency_key' || which, format('has %s bytes, 1 to 255 are allowed', octet_length(idempotency_key)), 'A UUID is a good key.');
  end if;
end;
$$;

-- True where nothing can be wrong, in one expression: the calls of memory._check_message() would be a fifth of an
-- insert. It refuses nothing: where it is not true, memory._check_message() decides. Inlined by the planner, hence no
-- SET clause.
create or replace function memory._is_plain_message(
  user_id text, thread_id text, agent_id text, role text, content text, metadata jsonb, created_at timestamptz,
    idempotency_key text
)
returns boolean
language sql stable parallel safe
begin atomic
  select (length(user_id) between 1 and 255 and length(thread_id) between 1 and 255 and length(agent_id) between 1
    and 255
    and role in ('user', 'assistant', 'tool', 'system', 'developer')
    and (content <> '' or memory._has_parts(metadata)) and octet_length(content) <= 10485760
    and jsonb_typeof(metadata) = 'object' and pg_column_size(metadata) <= 1048576
    and (created_at is null or memory._is_real_moment(created_at))
    and (idempotency_key is null or octet_length(idempotency_key) between 1 and 255)) is true;
end;

create or replace function memory._message_before_insert()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may insert need not have rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  appended record;
begin
  -- Only memory.add_messages() brings numbers along, and does not come here: it has checked its rows and reserved the
  -- numbers for them all at once.
  if new.seq is not null then
    perform memory._refuse('seq', 'is assigned by the database', 'Leave it out of the insert.');
  end if;
  if new.role = 'agent' then
    new.role := 'assistant';
  end if;
  new.metadata := coalesce(new.metadata, '{}');
  if not memory._is_plain_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
    new.created_at, new.idempotency_key) then
    perform memory._check_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
      new.created_at, new.idempotency_key);
  end if;
  new.token_count := memory._estimate_tokens(new.content);
  if new.metadata ? 'tool_calls' then
    new.token_count := new.token_count + memory._estimate_tokens(new.metadata ->> 'tool_calls');
  end if;
  new.created_at := coalesce(new.created_at, statement_timestamp());
  new.updated_at := statement_timestamp();
  new.is_active := true;

  if not memory._is_real_moment(new.expires_at) then
    perform memory._check_bound('expires_at', new.expires_at);
  end if;

  appended := memory._append(new.user_id, new.thread_id, new.agent_id, 1, new.token_count, new.created_at, new.created_at,
                             new.role = 'assistant' and not new.metadata ? 'tool_calls');
  new.seq := appended.first_seq;
  new.expires_at := coalesce(new.expires_at, appended.expires_at);
  -- The thread is locked now, so nobody can add the same key between this test and the insert. Refusing here keeps
  -- seq gapless even for "on conflict do nothing".
  if new.idempotency_key is not null then
    if exists (select from memory._messages_by_keys(new.user_id, new.thread_id, array[new.idempotency_key])) then
      perform memory._refuse('idempotency_key', format('"%s" is used in this thread already', new.idempotency_key),
        'memory.add_message() returns the stored message instead.', '23505');
    end if;
  end if;
  return new;
end;
$$;

-- What later changes do to the thread's counters, once per statement. Threads are locked in one order.
create or replace function memory._messages_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  delta record;
begin
  if tg_op = 'DELETE' then
    -- Row by row: a join is planned badly while the table has no statistics, and a session keeps its first plan.
    perform memory._drop_embedding(o.user_id, 'message', o.thread_id || '/' || o.seq) from old_rows as o;
    perform memory._keep_key(o) from old_rows as o where o.idempotency_key is not null;
    for delta in
      select o.user_id, o.thread_id, -count(*) as messages, -sum(o.token_count) as tokens
      from old_rows as o where o.is_active group by 1, 2 order by 1, 2
    loop
      update memory.threads as t
      set message_count = t.message_count + delta.messages, active_tokens = t.active_tokens + delta.tokens
      where t.user_id = delta.user_id and t.thread_id = delta.thread_id;
    end loop;
  else
    for delta in
      select c.user_id, c.thread_id, sum(c.messages) as messages, sum(c.tokens) as tokens
      from (select o.user_id, o.thread_id, -1 as messages, -o.token_count as tokens from old_rows as o where o.is_active
            union all
            select n.user_id, n.thread_id, 1, n.token_count from new_rows as n where n.is_active) as c
      group by 1, 2 having sum(c.messages) <> 0 or sum(c.tokens) <> 0 order by 1, 2
    loop
      update memory.threads as t
      set message_count = t.message_count + delta.messages, active_tokens = t.active_tokens + delta.tokens
      where t.user_id = delta.user_id and t.thread_id = delta.thread_id;
    end loop;
  end if;
  return null;
end;
$$;

-- The key of a message that goes counts as long as its thread exists.
create or replace function memory._keep_key(message memory.messages)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into memory.idempotency_keys (user_id, thread_id, idempotency_key, seq, digest, token_count)
  select t.user_id, t.thread_id, message.idempotency_key, message.seq,
    memory._message_digest(message.role, message.content), message.token_count
  from memory.threads as t where t.user_id = message.user_id and t.thread_id = message.thread_id
  on conflict do nothing;
end;
$$;

-- What an append leaves for later, done at once for a range of a thread: the words of its messages (to insert one from
-- JSON takes 4 us, to parse what it says 30) and their exact tokens, where token_counts has them by seq. Words are
-- those of the row's own text under the row's lock, so a change of the text cannot be lost. What someone is changing is
-- skipped, so nobody waits: a change of the text keeps its words itself. Of messages that are long, as many are parsed
-- as have max_bytes between them, and one at least; memory.sweep() goes on from there.
create or replace function memory._finish_messages(
  user_id text, thread_id text, from_seq bigint, to_seq bigint, token_counts jsonb default '{}',
    max_bytes int default 4262144
)
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  seqs bigint[];
  last_parsed bigint;
  agents text[];
  languages jsonb;
begin
  select array_agg(b.seq) filter (where b.fits or b.is_new_count), max(b.seq) filter (where b.fits),
    array_agg(distinct b.agent_id)
  into seqs, last_parsed, agents
  from (
    select l.seq, l.agent_id, l.is_new_count, l.bytes is not null
      and (sum(l.bytes) over so_far <= max_bytes or count(l.bytes) over so_far = 1) as fits
    from (
      select m.seq, m.agent_id, not m.is_counted and token_counts ? m.seq::text as is_new_count,
        case when m.search_vector is null and m.is_active then least(octet_length(m.content), 262144) end as bytes
      from memory.messages as m
      where m.user_id = _finish_messages.user_id and m.thread_id = _finish_messages.thread_id
        and m.seq between from_seq and to_seq
        and (m.search_vector is null and m.is_active or not m.is_counted and token_counts ? m.seq::text)
      for no key update skip locked) as l
    window so_far as (order by l.seq)) as b;
  -- Once for each agent: for each message it takes as long as parsing it (10,000 short ones: 0.47 s instead of 0.26).
  languages := (select jsonb_object_agg(a.id, memory._policy(_finish_messages.user_id, a.id) #> '{search,language}') from unnest(agents) as a (id));
  -- An array, because a join is planned badly while the table has no statistics.
  update memory.messages as m
  set search_vector = coalesce(m.search_vector, case when m.is_active and m.seq <= last_parsed
    then memory._message_vector((languages ->> m.agent_id)::regconfig, m.content, m.metadata, m.created_at) end),
      token_count = case when m.is_counted then m.token_count else coalesce((token_counts ->> m.seq::text)::numeric::int, m.token_count) end,
      is_counted = m.is_counted or token_counts ? m.seq::text
  where m.user_id = _finish_messages.user_id and m.thread_id = _finish_messages.thread_id and m.seq = any (seqs);
end;
$$;

-- A message keeps its place: what identifies it cannot be updated. Its words and token_count follow the content.
create or replace function memory._message_before_update()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
begin
  if (new.user_id, new.thread_id, new.seq) is distinct from (old.user_id, old.thread_id, old.seq) then
    perform memory._refuse('seq', 'user_id, thread_id and seq of a message cannot change', 'Insert a new message instead.');
  end if;
  if not memory._is_plain_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
    new.created_at, new.idempotency_key) then
    perform memory._check_message(new.user_id, new.thread_id, new.agent_id, new.role, new.content, new.metadata,
      new.created_at, new.idempotency_key);
  end if;
  if new.content <> old.content or new.metadata <> old.metadata then
    new.token_count := memory._estimate_tokens(new.content) + coalesce(memory._estimate_tokens(new.metadata ->> 'tool_calls'), 0);
    new.is_counted := false;
    policy := memory._policy(new.user_id, new.agent_id);
    new.search_vector := memory._message_vector((policy #>> '{search,language}')::regconfig, new.content, new.metadata, new.created_at);
    -- A job that is embedding the old text holds the row: its embedding is there to be dropped afterwards.
    perform from memory.messages as m where m.user_id = new.user_id and m.thread_id = new.thread_id and m.seq = new.seq for update;
    perform memory._drop_embedding(new.user_id, 'message', new.thread_id || '/' || new.seq);
    if (policy #>> '{search,embed_messages}')::boolean then
      perform memory._enqueue_embedding(new.user_id, new.thread_id);
    end if;
  end if;
  new.updated_at := statement_timestamp();
  return new;
end;
$$;

-- Deleting a thread's row deletes what hangs on it: marks, then jobs, then summaries, the order in which
-- memory.complete_job() takes them. A worker that is about to store a result then finds its job gone and stores nothing.
create or replace function memory._thread_after_delete()
returns trigger
language plpgsql volatile parallel unsafe security definer -- writers need no rights on counters and jobs
set search_path = pg_catalog, pg_temp
as $$
begin
  delete from memory.marks as k where k.user_id = old.user_id and k.scope = old.thread_id;
  delete from memory.jobs as j where j.user_id = old.user_id and j.scope = old.thread_id;
  perform memory._recall_user_summary(old.user_id, old.thread_id);
  -- Again: the first job to read the thread may have been completed while it was waited for.
  delete from memory.marks as k where k.user_id = old.user_id and k.scope = old.thread_id;
  delete from memory.summaries as s where s.user_id = old.user_id and s.thread_id = old.thread_id;
  delete from memory.documents as d where d.user_id = old.user_id and d.thread_id = old.thread_id and d.source in ('archive', 'closed_archive');
  delete from memory.artifacts as a where a.user_id = old.user_id and a.thread_id = old.thread_id;
  delete from memory.messages as m where m.user_id = old.user_id and m.thread_id = old.thread_id;
  delete from memory.idempotency_keys as k where k.user_id = old.user_id and k.thread_id = old.thread_id;
  return null;
end;
$$;
