-- The summary of the whole thread grows by all messages but the newest. No result of a tool is kept without its call,
-- so the cut may lie before the message that called the tool. If the summary already covers messages, they are
-- soft-deleted without a model. If it has passed over messages, because memory.summarize_thread() was given a recent_k,
-- a job of their own reads and soft-deletes them first. The instructions that begin the thread stay in it.
create or replace function memory._compress_thread_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  is_forced constant boolean := p_job.request ? 'is_forced';
  policy jsonb;
  threshold bigint;
  newest_seq bigint;
  first_kept_seq bigint;
  active_tokens bigint;
  base memory.summaries;
  passed_over bigint; -- the first message that the former summary has passed over
  after_opening bigint;
  range_start bigint;
  base_ends bigint;
  from_seq bigint;
  given record;
  kept record;
  chat jsonb;
begin
  select m.seq, m.agent_id into newest_seq, agent_id
  from memory._active_messages(p_job.user_id, p_job.scope, null) as m order by m.seq desc limit 1;
  policy := memory._policy(p_job.user_id, agent_id);
  threshold := (policy #>> '{compression,threshold_tokens}')::bigint;
  select min(k.seq) into first_kept_seq
  from (
    select m.seq from memory._active_messages(p_job.user_id, p_job.scope, null) as m
    order by m.seq desc limit (policy #>> '{compression,recent_messages_to_keep}')::int) as k;
  first_kept_seq := memory._call_seq(p_job.user_id, p_job.scope, first_kept_seq);
  after_opening := memory._seq_after_opening(p_job.user_id, p_job.scope);
  -- A job that is not forced needs messages with a tenth of the threshold before the cut. The function takes their
  -- tokens from the thread's counter, so that it reads only the newest messages.
  if first_kept_seq is null or not (policy #>> '{resources,memory}')::boolean
    or not is_forced and threshold / 10 > memory._active_tokens(p_job.user_id, p_job.scope)
      - memory._tokens_between(p_job.user_id, p_job.scope, 0, after_opening - 1)
      - memory._tokens_between(p_job.user_id, p_job.scope, greatest(first_kept_seq, after_opening), newest_seq) then
    return;
  end if;
  perform memory._check_summary_is_free(p_job, 'thread');
  base := memory._latest_summary(p_job.user_id, p_job.scope, 'thread');
  range_start := coalesce(base.start_seq, after_opening);
  base_ends := coalesce(base.end_seq + 1, after_opening);
  select m.seq into passed_over
  from memory._active_messages(p_job.user_id, p_job.scope, null) as m
  where m.seq >= after_opening and m.seq < least(range_start, first_kept_seq) order by m.seq limit 1;
  from_seq := coalesce(passed_over, base_ends);
  chat := memory._chat_model(policy #>> '{summary,model}', policy -> 'agent', 'compress_thread');
  select * into given
  from memory._message_payload(
    p_job.user_id, p_job.scope, from_seq,
    case when passed_over is null then first_kept_seq else least(range_start, first_kept_seq) end - 1,
    false, 1000, memory._tokens_to_give(chat, p_job, base.summary));
  if given.messages is null then
    select t.active_tokens into active_tokens from memory.threads as t
    where t.user_id = p_job.user_id and t.thread_id = p_job.scope for no key update nowait;
    if base.summary_id is not null and (is_forced or active_tokens >= threshold) then
      input := jsonb_build_object('is_partial', 10000 = memory._put_away(
        base, first_kept_seq, (policy #>> '{compression,archive_conversations}')::boolean, 10000));
    end if;
    return;
  end if;
  select * into kept
  from memory._message_payload(p_job.user_id, p_job.scope, first_kept_seq, newest_seq, false, 1000, 24000);
  if passed_over is not null and not given.is_partial and range_start <= first_kept_seq then
    range_start := after_opening;
  end if;
  tokens := given.tokens;
  payload := chat
    || jsonb_build_object(
      'thread_id', p_job.scope,
      'messages', given.messages,
      'recent_messages', kept.messages,
      'start_seq', range_start,
      'end_seq', greatest(given.last_seq, base.end_seq),
      'previous_summary', base.summary,
      'previous_metadata', base.metadata,
      'threshold_tokens', policy #> '{compression,threshold_tokens}',
      'is_forced', coalesce((p_job.request ->> 'is_forced')::boolean, false),
      'remaining_tokens', greatest(0, memory._active_tokens(p_job.user_id, p_job.scope)
        - memory._tokens_between(p_job.user_id, p_job.scope, 0, after_opening - 1)
        - memory._tokens_between(p_job.user_id, p_job.scope, from_seq, given.last_seq)
        - memory._tokens_between(p_job.user_id, p_job.scope, first_kept_seq, coalesce(kept.last_seq, newest_seq))));
  input := jsonb_build_object(
    'summary_id', memory._start_summary(p_job.user_id, p_job.scope, 'thread', range_start,
                                        greatest(given.last_seq, base.end_seq), base, given.agent_ids, p_job),
    'chain', 'thread',
    'from_seq', from_seq,
    'covers_through', given.last_seq,
    'read_through', coalesce(kept.last_seq, newest_seq),
    'is_partial', given.is_partial or passed_over is not null,
    'archives', policy #> '{compression,archive_conversations}');
end;
$$;

-- The tokens of all active messages of a thread, taken from the thread's counter.
create or replace function memory._active_tokens(p_user_id text, p_thread_id text)
returns bigint
language plpgsql stable parallel safe
as $$
begin
  return t.active_tokens from memory.threads as t
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
end;
$$;
