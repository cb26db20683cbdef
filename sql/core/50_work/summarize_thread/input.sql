-- The messages for a summary: those since the former summary, up to the last answer of an assistant. A question that is
-- being answered now belongs to the next summary. If a thread has no answer among its newest 1,000 messages, or a round
-- has filled a context by itself, the summary goes to the end of the thread.
--
-- A summary of kind thread covers the whole thread. A rolling summary covers the newest window if policy summary.when
-- is each_round. If it is needed, a rolling summary covers everything that the summary of the whole thread does not
-- cover, so that no message is missing between the two summaries and the messages that fit into a context.
create or replace function memory._summarize_thread_input(
  p_job memory.jobs, out payload jsonb, out input jsonb, out agent_id text, out tokens int
)
language plpgsql volatile parallel unsafe
as $$
declare
  policy jsonb;
  chain text;
  base memory.summaries;
  ends_round boolean;
  is_forced constant boolean := p_job.request ? 'is_forced';
  is_window boolean;
  whole_end bigint;
  after_opening bigint;
  range_start bigint;
  range_end bigint;
  from_seq bigint;
  given record;
  chat jsonb;
begin
  for ends_round in select unnest('{true,false}'::boolean[]) loop
    select n.seq, n.agent_id into range_end, agent_id
    from (
      select m.seq, m.agent_id, m.role, m.metadata from memory._active_messages(p_job.user_id, p_job.scope, null) as m
      order by m.seq desc limit 1000) as n
    where not ends_round or memory._ends_round(n.role, n.metadata)
    order by n.seq desc limit 1;
    exit when found;
  end loop;
  if range_end is null then
    raise debug 'No new messages to summarize for %', memory._in_a_line(p_job.scope);
    return;
  end if;
  policy := memory._policy(p_job.user_id, agent_id);
  if not (policy #>> '{resources,memory}')::boolean then
    return;
  end if;
  chain := coalesce(nullif(p_job.variant, ''), memory._kind_of_summary(policy));
  is_window := chain = 'rolling' and policy #>> '{summary,when}' = 'each_round';
  -- A rolling summary that was queued automatically is no longer due if the thread has been compressed meanwhile or is
  -- about to be, because compression reads the same messages. Half of the tokens are enough here, because jobs may have
  -- counted fewer tokens than were estimated when this job was queued.
  if chain = 'rolling' and not is_window and not is_forced and (
    memory._is_queued(p_job.user_id, 'compress_thread', p_job.scope)
    or not memory._needs_summary(policy, memory._active_tokens(p_job.user_id, p_job.scope),
                                 2 * memory._tokens_since_summary(p_job.user_id, p_job.scope))) then
    return;
  end if;
  perform memory._check_summary_is_free(p_job, chain);
  base := memory._latest_summary(p_job.user_id, p_job.scope, chain);
  after_opening := memory._seq_after_opening(p_job.user_id, p_job.scope);
  if range_end < after_opening then -- only instructions, which stay in the thread
    return;
  end if;
  if chain = 'thread' then
    range_start := coalesce(base.start_seq, after_opening);
    from_seq := greatest(range_start, coalesce(base.end_seq + 1, after_opening),
                         range_end - (p_job.request ->> 'recent_k')::bigint + 1);
    if from_seq > coalesce(base.end_seq + 1, after_opening) then
      range_start := from_seq; -- compression reads the messages that recent_k passes over
    end if;
  else
    -- The window of a rolling summary starts window_size messages before its end. It starts at an even distance from
    -- the instructions that begin the thread, so that a question keeps its answer. The instructions are in no window.
    range_start := greatest(after_opening, range_end - (policy #>> '{summary,window_size}')::bigint + 1);
    range_start := least(range_start + (range_start - after_opening) % 2, range_end);
    if not is_window then
      whole_end := coalesce((memory._latest_summary(p_job.user_id, p_job.scope, 'thread')).end_seq, -1);
      -- The first message of the range that jobs may read, and the newest rolling summary that covers it.
      range_start := (
        select m.seq from memory.messages as m
        where m.user_id = p_job.user_id and m.thread_id = p_job.scope
          and m.seq >= greatest(least(range_start, whole_end + 1), after_opening)
          and memory._is_readable_message(m.is_active, m.summary_id, m.expires_at)
        order by m.seq limit 1);
      base := (
        select s from memory.summaries as s
        where s.user_id = p_job.user_id and s.thread_id = p_job.scope and s.kind = 'rolling' and s.status = 'completed'
          and range_start between s.start_seq and s.end_seq
        order by s.end_seq desc limit 1);
      if not is_forced and greatest(base.end_seq, whole_end) >= range_end then
        range_end := memory._newest_seq(p_job.user_id, p_job.scope);
      end if;
    end if;
    from_seq := greatest(range_start, coalesce(base.end_seq + 1, 0),
                         range_end - (p_job.request ->> 'recent_k')::bigint + 1);
    if not is_window and from_seq > coalesce(base.end_seq + 1, range_start) then
      range_start := from_seq; -- recent_k leaves messages out, so the next summary does not continue this one
    end if;
  end if;
  chat := memory._chat_model(policy #>> '{summary,model}', policy -> 'agent',
    case chain when 'thread' then 'compress_thread' else 'summarize_thread' end);
  select * into given
  from memory._message_payload(p_job.user_id, p_job.scope, from_seq, range_end, false, 1000,
    memory._tokens_to_give(chat, p_job, base.summary));
  if given.messages is null then
    raise debug 'No new messages to summarize for %', memory._in_a_line(p_job.scope);
    return;
  end if;
  if given.is_partial then -- the next jobs summarise the rest of a long backlog
    range_end := given.last_seq;
  end if;
  tokens := given.tokens;
  payload := chat
    || jsonb_build_object(
      'thread_id', p_job.scope,
      'kind', chain,
      'messages', given.messages,
      'start_seq', range_start,
      'end_seq', range_end,
      'previous_summary', base.summary,
      'previous_metadata', base.metadata,
      'previous_end_seq', base.end_seq);
  input := jsonb_build_object(
    'summary_id', memory._start_summary(p_job.user_id, p_job.scope, chain, range_start, range_end, base,
                                        given.agent_ids, p_job),
    'chain', chain,
    'from_seq', from_seq,
    'read_through', range_end,
    'is_partial', given.is_partial);
  -- An earlier attempt of the job began a summary of the other chain.
  if p_job.input ->> 'summary_id' <> input ->> 'summary_id' then
    perform memory._end_unfinished_summary(p_job, false);
  end if;
end;
$$;
