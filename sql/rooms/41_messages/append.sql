-- Books p_message_count messages in a thread: numbers and counts them, and queues the model work that is due. Returns
-- the seq of the first message, and when messages without an expires_at of their own expire. Every append to one thread
-- waits here for the append before, so seq has no gaps and counters are exact. No append waits for a model. Nothing is
-- booked for an agent without the resource memory; then first_seq is null. masks: what the policy has masked; null for
-- nothing.
--
-- memory.add_message() books a message of an existing thread by a statement of its own, because the call took a tenth
-- of its time.
create or replace function memory._append(
  p_user_id text, p_thread_id text, p_agent_id text, p_message_count int, p_token_count bigint,
  p_first_at timestamptz, p_last_at timestamptz, p_ends_round boolean,
  out first_seq bigint, out expires_at timestamptz, out masks text[]
)
language plpgsql volatile parallel unsafe
as $$
declare
  layers memory.policies[];
  messages_now bigint;
  tokens_now bigint;
  tokens_since bigint;
  embeds boolean;
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
    array(select p from memory.policies as p
          where memory._policy_applies(p.user_id, p.agent_id, p_user_id, p_agent_id)
            and memory._concerns_messages(p.settings)),
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
  into first_seq, messages_now, tokens_now, tokens_since, layers, embeds;

  select b.* into first_seq, expires_at, masks
  from memory._after_booking(p_user_id, p_thread_id, p_agent_id, first_seq, p_message_count, p_token_count,
                             p_ends_round, messages_now, tokens_now, tokens_since, layers, embeds) as b;
end;
$$;

-- What follows once messages are booked in a thread whose counters are then these: queues the work that is due, and
-- returns what memory._append() does. p_layers: the rows of memory.policies that apply and
-- concern messages. p_embeds: there is an active embedding model.
create or replace function memory._after_booking(
  p_user_id text, p_thread_id text, p_agent_id text, p_first_seq bigint, p_message_count int, p_token_count bigint,
  p_ends_round boolean, p_messages_now bigint, p_tokens_now bigint, p_tokens_since_summary bigint,
  p_layers memory.policies[], p_embeds boolean,
  out first_seq bigint, out expires_at timestamptz, out masks text[]
)
language plpgsql volatile parallel unsafe
as $$
declare
  policy jsonb;
  due text[];
  kind text;
begin
  -- If no policy is set, the planner folds the settings into both expressions as constants.
  if cardinality(p_layers) = 0 then
    expires_at := memory._message_expiry(memory._default_policy());
    due := memory._kinds_due(memory._default_policy(), p_first_seq, p_message_count, p_ends_round, p_tokens_now,
                             p_tokens_since_summary, p_embeds);
  else
    policy := memory._merge_layers(p_layers);
    if not (policy #>> '{resources,memory}')::boolean then
      -- Hardly any agent is without memory, so the booking is undone here. To read the policy before it took a tenth of
      -- the instructions of add_message (callgrind) for every agent.
      perform memory._unbook(p_user_id, p_thread_id, p_first_seq, p_message_count, p_token_count);
      perform memory._note_missing_resource(p_agent_id, 'memory', 'nothing is stored');
      delete from memory.threads as t
      where t.user_id = p_user_id and t.thread_id = p_thread_id and t.next_seq = 0
        and t.metadata is null; -- it never had a message, and memory.set_thread() has not made it
      return;
    end if;
    expires_at := memory._message_expiry(policy);
    masks := nullif(memory._masks(policy, true), '{}');
    due := memory._kinds_due(policy, p_first_seq, p_message_count, p_ends_round, p_tokens_now, p_tokens_since_summary,
                             p_embeds);
  end if;
  first_seq := p_first_seq;

  foreach kind in array due loop
    case kind
      when 'compress_thread' then
        perform memory._enqueue_compression(p_user_id, p_thread_id, p_message_count, p_token_count, p_messages_now,
          p_tokens_now, coalesce(policy, memory._default_policy()) -> 'compression');
      when 'summarize_user' then
        -- Of the messages of all threads together. Messages of open transactions are not seen yet, so the job may come
        -- a message later than the policy says. An exact counter would make the appends to all threads of a user wait
        -- for each other.
        if memory._passes_multiple(
          (select sum(t.next_seq) from memory.threads as t where t.user_id = p_user_id)::bigint - p_message_count,
          p_message_count, (coalesce(policy, memory._default_policy()) #>> '{cadence,user_summary_every_n}')::int) then
          perform memory._enqueue_due(p_user_id, kind, '');
        end if;
      when 'summarize_thread' then
        if not memory._enqueue_due(p_user_id, kind, p_thread_id,
                                   memory._kind_of_summary(coalesce(policy, memory._default_policy()))) then
          raise debug 'Summarization already in progress for %', memory._in_a_line(p_thread_id);
        end if;
      else
        perform memory._enqueue_due(p_user_id, kind, p_thread_id);
    end case;
  end loop;
end;
$$;

-- Whether settings have a section that memory._after_booking() reads. Others, such as those of memories, need not be
-- merged with each message.
create or replace function memory._concerns_messages(p_settings jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_settings ?| '{cadence,compression,context,masking,messages,resources,search,secrets,summary}';
end;

-- Takes back what was booked under the numbers from p_first_seq on, as if it had not been. A number stays without a
-- message if the thread has a later one already.
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
