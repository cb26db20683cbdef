-- Decides when messages make work due: extractions, summaries, compression.

-- Whether a multiple of p_n is among the next p_count numbers after p_before; null when p_n is 0.
create or replace function memory._passes_multiple(p_before bigint, p_count int, p_n int)
returns boolean
language sql immutable parallel safe
begin atomic
  select case when p_n > 0 then (p_before + p_count) / p_n > p_before / p_n end;
end;

-- Whether a policy has memories extracted from messages at all.
create or replace function memory._extracts(p_policy jsonb)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return (p_policy #>> '{cadence,fact_extraction_every_n}')::int > 0
    and (p_policy #>> '{resources,memory}')::boolean
    and ((p_policy #>> '{budget,tokens_per_user_per_day}')::bigint is distinct from 0
           and (p_policy #>> '{budget,tokens_per_agent_per_day}')::bigint is distinct from 0
         or (memory._chosen_chat_model(null, p_policy -> 'agent')).provider = 'local');
end;
$$;

-- The kind of the summaries of threads under a policy.
create or replace function memory._kind_of_summary(p_policy jsonb)
returns text
language sql immutable parallel safe
begin atomic
  select case when (p_policy #>> '{cadence,thread_summary_every_n}')::int > 0 then 'thread' else 'rolling' end;
end;

-- Whether a thread needs a rolling summary under policy summary.when = needed. Its messages must no longer fit into a
-- context, and the messages since its newest summary must have more than three quarters of a context, because summaries
-- and memories need the rest. A thread near its compression, with nine tenths of compression.threshold_tokens, waits
-- until the new messages have all of a context, because the compression will soon read them, too.
create or replace function memory._needs_summary(p_policy jsonb, p_active_tokens bigint, p_tokens_since_summary bigint)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_active_tokens > (p_policy #>> '{context,max_tokens}')::int
    and p_tokens_since_summary > (p_policy #>> '{context,max_tokens}')::bigint * case
      when (p_policy #>> '{compression,enabled}')::boolean
        and p_active_tokens >= (p_policy #>> '{compression,threshold_tokens}')::bigint * 9 / 10
        then 4 else 3 end / 4;
end;

-- Whether p_tokens are over a limit. Beyond one and a half times the limit the answer is true only when the newest
-- p_added tokens passed another eighth of the limit: where no worker runs, a thread stays over its limits, and looking
-- for the queued jobs with each message would take a fifth of the time of memory.add_message().
create or replace function memory._is_over(p_tokens bigint, p_added bigint, p_limit bigint)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_tokens >= p_limit
    and (p_tokens < p_limit * 3 / 2 or p_tokens / (p_limit / 8 + 1) > (p_tokens - p_added) / (p_limit / 8 + 1));
end;

-- Whether a summary is due once p_count messages with p_tokens are booked from p_first_seq on.
create or replace function memory._is_summary_due(
  p_policy jsonb, p_first_seq bigint, p_count int, p_tokens bigint, p_ends_round boolean, p_active_tokens bigint,
  p_tokens_since_summary bigint
)
returns boolean
language sql immutable parallel safe
begin atomic
  select case
    when (p_policy #>> '{cadence,thread_summary_every_n}')::int > 0 then
      memory._passes_multiple(p_first_seq, p_count, (p_policy #>> '{cadence,thread_summary_every_n}')::int)
    when (p_policy #>> '{summary,enabled}')::boolean
      and p_first_seq + p_count > (p_policy #>> '{summary,start_seq}')::bigint then
      case p_policy #>> '{summary,when}'
        when 'each_round' then p_ends_round
        -- A round that fills a context by itself is summarised before it ends.
        else (p_ends_round or p_tokens_since_summary > (p_policy #>> '{context,max_tokens}')::int)
          and memory._needs_summary(p_policy, p_active_tokens, p_tokens_since_summary)
          and memory._is_over(p_tokens_since_summary, p_tokens, (p_policy #>> '{context,max_tokens}')::bigint * 3 / 4)
      end
    else false end;
end;

-- Queues the compression of a thread that is over the threshold, unless it is queued already. The messages to summarise
-- must have at least a tenth of the threshold: otherwise a thread whose newest messages alone are over the threshold
-- would be compressed with every message.
create or replace function memory._enqueue_compression(
  p_user_id text, p_thread_id text, p_appended int, p_appended_tokens bigint, p_messages_now bigint,
  p_tokens_now bigint, p_compression jsonb
)
returns void
language plpgsql volatile parallel unsafe
as $$
declare
  keep int := (p_compression ->> 'recent_messages_to_keep')::int;
  after_opening bigint;
  kept_tokens numeric;
begin
  if not (p_compression ->> 'enabled')::boolean or p_messages_now <= keep
    or memory._is_queued(p_user_id, 'compress_thread', p_thread_id) then
    return;
  end if;
  after_opening := memory._seq_after_opening(p_user_id, p_thread_id);
  -- The appended messages are not stored yet. If only some of them will be kept, the function counts all as equally
  -- long; the job reads their true lengths.
  select coalesce(sum(k.token_count), 0) + p_appended_tokens * least(1, keep / p_appended::numeric) into kept_tokens
  from (select m.token_count from memory.messages as m
        where m.user_id = p_user_id and m.thread_id = p_thread_id and m.is_active
          and m.seq >= after_opening
        order by m.seq desc limit greatest(keep - p_appended, 0)) as k;
  kept_tokens := kept_tokens + memory._tokens_between(p_user_id, p_thread_id, 0, after_opening - 1);
  if p_tokens_now - kept_tokens >= (p_compression ->> 'threshold_tokens')::bigint / 10 then
    perform memory._enqueue_due(p_user_id, 'compress_thread', p_thread_id);
  end if;
end;
$$;
