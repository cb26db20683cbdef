-- Books p_message_count messages in a thread: numbers and counts them, and queues the model work that is due. Returns
-- the seq of the first message. Every writer of one thread waits here for the writer before, so seq has no gaps and
-- counters are exact. No writer waits for a model.
create or replace function memory._book(
  p_user_id text, p_thread_id text, p_agent_id text, p_policy jsonb, p_message_count int, p_token_count bigint,
  p_first_at timestamptz, p_last_at timestamptz, p_ends_round boolean
)
returns bigint
language plpgsql volatile parallel unsafe
as $$
declare
  first_seq bigint;
  messages_now bigint;
  tokens_now bigint;
  tokens_since_summary bigint;
  embeds boolean;
  kind text;
begin
  insert into memory.threads as t (user_id, thread_id, next_seq, message_count, active_tokens, tokens_since_summary,
    first_at, last_at)
  values (p_user_id, p_thread_id, p_message_count, p_message_count, p_token_count, p_token_count, p_first_at, p_last_at)
  on conflict on constraint threads_pkey do update
  set next_seq = t.next_seq + excluded.next_seq,
      message_count = t.message_count + excluded.message_count,
      active_tokens = t.active_tokens + excluded.active_tokens,
      tokens_since_summary = t.tokens_since_summary + excluded.tokens_since_summary,
      first_at = least(t.first_at, excluded.first_at),
      last_at = greatest(t.last_at, excluded.last_at),
      settled_at = null
  returning t.next_seq - p_message_count, t.message_count, t.active_tokens, t.tokens_since_summary,
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
  into first_seq, messages_now, tokens_now, tokens_since_summary, embeds;

  foreach kind in array memory._kinds_due(
    p_policy, first_seq, p_message_count, p_ends_round, tokens_now, tokens_since_summary, embeds)
  loop
    case kind
      when 'compress_thread' then
        perform memory._enqueue_compression(p_user_id, p_thread_id, p_message_count, p_token_count, messages_now,
          tokens_now, p_policy -> 'compression');
      when 'summarize_user' then
        -- Of the messages of all threads together. Messages of open transactions are not seen yet, so the job may come
        -- a message later than the policy says. An exact counter would make the writers of all threads of a user wait
        -- for each other.
        if memory._passes_multiple(
          (select sum(t.next_seq) from memory.threads as t where t.user_id = p_user_id)::bigint - p_message_count,
          p_message_count, (p_policy #>> '{cadence,user_summary_every_n}')::int) then
          perform memory._enqueue_due(p_user_id, kind, '');
        end if;
      when 'summarize_thread' then
        if not memory._enqueue_due(p_user_id, kind, p_thread_id, memory._kind_of_summary(p_policy)) then
          raise debug 'Summarization already in progress for %', memory._in_a_line(p_thread_id);
        end if;
      else
        perform memory._enqueue_due(p_user_id, kind, p_thread_id);
    end case;
  end loop;
  return first_seq;
end;
$$;

-- Takes back what was booked under the numbers from p_first_seq on, because a trigger of the application's own has left
-- these messages out. A number stays without a message if the thread has a later one already.
create or replace function memory._unbook(
  p_user_id text, p_thread_id text, p_first_seq bigint, p_message_count int, p_token_count bigint
)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set next_seq = case t.next_seq when p_first_seq + p_message_count then p_first_seq else t.next_seq end,
      message_count = t.message_count - p_message_count,
      active_tokens = t.active_tokens - p_token_count,
      tokens_since_summary = t.tokens_since_summary - p_token_count,
      first_at = coalesce((
        select m.created_at from memory.messages as m
        where m.user_id = t.user_id and m.thread_id = t.thread_id order by m.seq limit 1), t.first_at),
      last_at = coalesce((
        select m.created_at from memory.messages as m
        where m.user_id = t.user_id and m.thread_id = t.thread_id order by m.seq desc limit 1), t.last_at)
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
end;
$$;
