-- No other file writes the counters of threads, message_count and active_tokens.

-- Books messages in a thread: numbers and counts them, and queues the model work that is due. Returns the seq of the
-- first message. Every writer of a thread waits here for the writer before, so seq has no gaps and counters are exact.
-- No writer waits for a model.
create or replace function memory._book(
  p_user_id text, p_thread_id text, p_policy jsonb, p_count int, p_tokens bigint, p_first_at timestamptz,
  p_last_at timestamptz, p_ends_round boolean
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  first_seq bigint;
  messages_now bigint;
  tokens_now bigint;
  tokens_since_summary bigint;
begin
  insert into memory.threads as t (user_id, thread_id, next_seq, message_count, active_tokens, tokens_since_summary,
    first_at, last_at)
  values (p_user_id, p_thread_id, p_count, p_count, p_tokens, p_tokens, p_first_at, p_last_at)
  on conflict on constraint threads_pkey do update
  set next_seq = t.next_seq + excluded.next_seq,
      message_count = t.message_count + excluded.message_count,
      active_tokens = t.active_tokens + excluded.active_tokens,
      tokens_since_summary = t.tokens_since_summary + excluded.tokens_since_summary,
      first_at = least(t.first_at, excluded.first_at),
      last_at = greatest(t.last_at, excluded.last_at),
      settled_at = null
  returning t.next_seq - p_count, t.message_count, t.active_tokens, t.tokens_since_summary
  into first_seq, messages_now, tokens_now, tokens_since_summary;

  if memory._passes_multiple(first_seq, p_count, (p_policy #>> '{cadence,fact_extraction_every_n}')::int)
    and memory._extracts(p_policy) then
    perform memory._enqueue_due(p_user_id, 'extract_memories', p_thread_id);
  end if;
  if memory._is_summary_due(p_policy, first_seq, p_count, p_tokens, p_ends_round, tokens_now, tokens_since_summary)
    and not memory._enqueue_due(p_user_id, 'summarize_thread', p_thread_id, memory._kind_of_summary(p_policy)) then
    raise debug 'Summarization already in progress for %', memory._in_a_line(p_thread_id);
  end if;
  if memory._is_over(tokens_now, p_tokens, (p_policy #>> '{compression,threshold_tokens}')::bigint) then
    perform memory._enqueue_compression(
      p_user_id, p_thread_id, p_count, p_tokens, messages_now, tokens_now, p_policy -> 'compression');
  end if;
  if p_policy #> '{cadence,user_summary_every_n}' <> '0' then
    -- This condition counts the messages of all threads of the user. It does not see messages of open transactions, so
    -- the job may come a message later than the policy says. An exact counter would make the writers of all threads of
    -- a user wait for each other.
    if memory._passes_multiple(
      (select sum(t.next_seq) from memory.threads as t where t.user_id = p_user_id)::bigint - p_count, p_count,
      (p_policy #>> '{cadence,user_summary_every_n}')::int) then
      perform memory._enqueue_due(p_user_id, 'summarize_user', '');
    end if;
  end if;
  if (p_policy #>> '{search,embed_messages}')::boolean
    and exists (select from memory.models as m where m.kind = 'embedding' and m.is_active) then
    perform memory._enqueue_due(p_user_id, 'embed', p_thread_id);
  end if;
  return first_seq;
end;
$$;

-- Takes back the numbers and counts of the messages in p_booked that are not in p_stored, because a trigger of the
-- application has left them out. If the thread has a later message already, the number of a message left out stays
-- unused.
create or replace function memory._unbook(
  p_user_id text, p_thread_id text, p_first_seq bigint, p_booked memory.messages[], p_stored memory.stored_message[]
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set next_seq = case t.next_seq when p_first_seq + cardinality(p_booked) then coalesce(l.last_seq + 1, p_first_seq)
                                 else t.next_seq end,
      message_count = t.message_count - l.messages,
      active_tokens = t.active_tokens - l.tokens,
      tokens_since_summary = t.tokens_since_summary - l.tokens,
      first_at = coalesce((
        select m.created_at from memory.messages as m
        where m.user_id = t.user_id and m.thread_id = t.thread_id order by m.seq limit 1), t.first_at),
      last_at = coalesce((
        select m.created_at from memory.messages as m
        where m.user_id = t.user_id and m.thread_id = t.thread_id order by m.seq desc limit 1), t.last_at)
  from (
    select count(*) filter (where s.seq is null) as messages, max(s.seq) as last_seq,
      sum(b.token_count) filter (where s.seq is null) as tokens
    from unnest(p_booked) with ordinality as b
    left join unnest(p_stored) as s on s.seq = p_first_seq + b.ordinality - 1) as l
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
end;
$$;

-- Adds to a thread's counters; the numbers are negative for messages that were taken out. If p_messages is 0, only the
-- tokens of stored messages change. Either a job has replaced estimates by exact counts: no job has read these messages
-- before, so they are newer than the newest summary, and tokens_since_summary changes too. (Estimates are a quarter too
-- high for English prose; if they stayed, they alone would cause every third summary.) Or a text was edited: a summary
-- may cover it, so its tokens may be missing in tokens_since_summary, which therefore stops at 0.
create or replace function memory._count_messages(p_user_id text, p_thread_id text, p_messages bigint, p_tokens bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set message_count = memory._counted_on(t.message_count, p_messages),
      active_tokens = memory._counted_on(t.active_tokens, p_tokens),
      tokens_since_summary = memory._counted_on(t.tokens_since_summary, case p_messages when 0 then p_tokens else 0 end)
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
end;
$$;

-- Counts the messages of these threads anew, by reading all of them.
create or replace function memory._recount_threads(p_user_id text, p_thread_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set message_count = c.messages, active_tokens = c.tokens
  from unnest(p_thread_ids) as r (thread_id)
  cross join lateral (
    select count(*) as messages, coalesce(sum(m.token_count), 0) as tokens from memory.messages as m
    where m.user_id = p_user_id and m.thread_id = r.thread_id and m.is_active) as c
  where t.user_id = p_user_id and t.thread_id = r.thread_id;
end;
$$;
