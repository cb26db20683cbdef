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
