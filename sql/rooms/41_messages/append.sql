-- Books p_message_count messages in a thread: numbers and counts them, and queues the model work that is due. Returns
-- the seq of the first message, and when messages without an expires_at of their own expire. Every append to one thread
-- waits here for the append before, so seq has no gaps and counters are exact. No append waits for a model. Nothing is
-- booked for an agent without the resource memory; then the first two results are null. reservation is what the setting
-- memory.seqs_reserved must be when rows are inserted under the reserved numbers: yes, or masked where the policy wants
-- marks in place of credentials; then the insert trigger takes the rows.
create or replace function memory._append(
  p_user_id text, p_thread_id text, p_agent_id text, p_message_count int, p_token_count bigint,
  p_first_at timestamptz, p_last_at timestamptz, p_ends_round boolean,
  out first_seq bigint, out expires_at timestamptz, out reservation text
)
language plpgsql volatile parallel unsafe
as $$
declare
  layers memory.policies[];
  policy jsonb;
  lifetime interval;
  messages_now bigint;
  tokens_now bigint;
  tokens_since bigint;
  embeds boolean;
  due text[];
  kind text;
begin
  reservation := 'yes';
  -- Policy and models are read in the same statement: a statement of their own would take 10 us.
  insert into memory.threads as t (user_id, thread_id, next_seq, message_count, active_tokens, tokens_since_summary,
    first_at, last_at)
  values (p_user_id, p_thread_id, p_message_count, p_message_count, p_token_count, p_token_count, p_first_at, p_last_at)
  on conflict on constraint threads_pkey do update
  set next_seq = t.next_seq + excluded.next_seq,
      message_count = t.message_count + excluded.message_count,
      active_tokens = t.active_tokens + excluded.active_tokens,
      tokens_since_summary = t.tokens_since_summary + excluded.tokens_since_summary,
      first_at = least(t.first_at, excluded.first_at),
      last_at = greatest(t.last_at, excluded.last_at)
  returning t.next_seq - p_message_count, t.message_count, t.active_tokens, t.tokens_since_summary,
    array(select p from memory.policies as p
          where memory._policy_applies(p.user_id, p.agent_id, p_user_id, p_agent_id)),
    exists (select from memory.models as m where m.kind = 'embedding' and m.is_active)
  into first_seq, messages_now, tokens_now, tokens_since, layers, embeds;

  -- If no policy is set, the planner folds the settings into both expressions as constants.
  if cardinality(layers) = 0 then
    lifetime := memory._message_lifetime(memory._default_policy());
    due := memory._kinds_due(memory._default_policy(), first_seq, p_message_count, p_ends_round, tokens_now,
                             tokens_since, embeds);
  else
    policy := memory._merge_layers(layers);
    if not (policy #>> '{resources,memory}')::boolean then
      -- Hardly any agent is without memory, so the booking is undone here. Reading the policy in a statement before
      -- took a tenth of the instructions of add_message (callgrind) for every agent.
      perform memory._unbook(p_user_id, p_thread_id, p_message_count, p_token_count);
      first_seq := null;
      return;
    end if;
    lifetime := memory._message_lifetime(policy);
    if (policy #>> '{secrets,mask_in_threads}')::boolean then
      reservation := set_config('memory.seqs_reserved', 'masked', true);
    end if;
    due := memory._kinds_due(policy, first_seq, p_message_count, p_ends_round, tokens_now, tokens_since, embeds);
  end if;
  expires_at := coalesce(statement_timestamp() + lifetime, 'infinity');

  foreach kind in array due loop
    case kind
      when 'compress_thread' then
        perform memory._enqueue_compression(p_user_id, p_thread_id, p_message_count, p_token_count, messages_now,
          tokens_now, coalesce(policy, memory._default_policy()) -> 'compression');
      when 'summarize_user' then
        perform memory._enqueue_user_summary(p_user_id, p_message_count,
          (coalesce(policy, memory._default_policy()) #>> '{cadence,user_summary_every_n}')::int);
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

-- Takes back what memory._append() has booked, as if it had not been called. A thread that never had a message goes.
create or replace function memory._unbook(p_user_id text, p_thread_id text, p_message_count int, p_token_count bigint)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  update memory.threads as t
  set next_seq = t.next_seq - p_message_count,
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
  delete from memory.threads as t
  where t.user_id = p_user_id and t.thread_id = p_thread_id and t.next_seq = 0;
end;
$$;
