-- Appends message_count messages to a thread's books: numbers them, counts them, and queues the model work that is due.
-- Every append of one thread passes here and waits for the one before it; that is what makes seq gapless and counters
-- exact. Appends never wait for a model: they only insert a job unless one is open.
create or replace function memory._append(
  p_user_id text, p_thread_id text, p_agent_id text, p_message_count int, p_token_count bigint,
  p_first_at timestamptz, p_last_at timestamptz, p_ends_round boolean,
  out first_seq bigint, out expires_at timestamptz
)
language plpgsql volatile parallel unsafe
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
  values (p_user_id, p_thread_id, p_message_count, p_message_count, p_token_count,
          p_first_at, p_last_at)
  on conflict on constraint threads_pkey do update
  set next_seq = t.next_seq + excluded.next_seq,
      message_count = t.message_count + excluded.message_count,
      active_tokens = t.active_tokens + excluded.active_tokens,
      first_at = least(t.first_at, excluded.first_at),
      last_at = greatest(t.last_at, excluded.last_at)
  returning t.next_seq - p_message_count, t.message_count, t.active_tokens,
    array(select p from memory.policies as p where p.user_id in ('', p_user_id) and p.agent_id in ('', p_agent_id)),
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
  into first_seq, messages_now, tokens_now, layers, embeds;
  policy := memory._effective_policy(layers);
  lifetime := policy #>> '{messages,expires_after}';
  expires_at := case when lifetime = 'never' then 'infinity' else statement_timestamp() + lifetime::interval end;

  last_seq := first_seq + p_message_count - 1;
  cadence := policy -> 'cadence';
  every_n := (cadence ->> 'fact_extraction_every_n')::int;
  if every_n > 0 and (last_seq + 1) / every_n > first_seq / every_n then
    perform memory._enqueue_due(p_user_id, 'extract_memories', p_thread_id);
  end if;
  every_n := (cadence ->> 'thread_summary_every_n')::int;
  if (case when every_n > 0 then (last_seq + 1) / every_n > first_seq / every_n
           else p_ends_round and last_seq >= (policy #>> '{summary,start_seq}')::bigint and (policy #>> '{summary,enabled}')::boolean end) then
    perform memory._enqueue_due(p_user_id, 'summarize_thread', p_thread_id);
  end if;
  if tokens_now >= (policy #>> '{compression,threshold_tokens}')::bigint then
    perform memory._enqueue_compression(p_user_id, p_thread_id, p_message_count, p_token_count, messages_now, tokens_now, policy -> 'compression');
  end if;
  every_n := (cadence ->> 'user_summary_every_n')::int;
  if every_n > 0 then
    perform memory._enqueue_user_summary(p_user_id, p_message_count, every_n);
  end if;
  if embeds and (policy #>> '{search,embed_messages}')::boolean then
    perform memory._enqueue_due(p_user_id, 'embed', p_thread_id);
  end if;
end;
$$;

-- Over the threshold each message asks. A thread whose newest messages alone are over it would be compressed message by
-- message, so what can be summarised has to be worth a call: a tenth of the threshold.
create or replace function memory._enqueue_compression(
  p_user_id text, p_thread_id text, p_appended int, p_appended_tokens bigint, p_messages_now bigint, p_tokens_now bigint, p_compression jsonb
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  keep int := (p_compression ->> 'recent_messages_to_keep')::int;
  kept_tokens numeric;
begin
  if not (p_compression ->> 'enabled')::boolean or p_messages_now <= keep or memory._is_queued(p_user_id, 'compress_thread', p_thread_id) then
    return;
  end if;
  -- The appended messages are not stored yet; of a batch larger than what is kept, all are taken for equally long. The
  -- job looks again.
  select coalesce(sum(k.token_count), 0) + p_appended_tokens * least(1, keep / p_appended::numeric) into kept_tokens
  from (select m.token_count from memory.messages as m
        where m.user_id = p_user_id and m.thread_id = p_thread_id and m.is_active
        order by m.seq desc limit greatest(keep - p_appended, 0)) as k;
  if p_tokens_now - kept_tokens >= (p_compression ->> 'threshold_tokens')::bigint / 10 then
    perform memory._enqueue_due(p_user_id, 'compress_thread', p_thread_id);
  end if;
end;
$$;

-- The messages of all threads of a user count. Those of transactions under way elsewhere are not seen yet: the job may
-- come a message later than the policy says, which costs less than one counter that all threads of a user wait for.
create or replace function memory._enqueue_user_summary(p_user_id text, p_message_count int, p_every_n int)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  messages bigint;
begin
  select sum(t.next_seq) into messages from memory.threads as t where t.user_id = p_user_id;
  if messages / p_every_n > (messages - p_message_count) / p_every_n then
    perform memory._enqueue_due(p_user_id, 'summarize_user', '');
  end if;
end;
$$;
