-- The messages for a summary of the newest window, or of the whole thread: those since the previous summary, up to the
-- last answer of an assistant. A question that is being answered right now belongs to the next summary. A thread
-- without an answer among its newest 1,000 messages is summarised to its end.
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
  range_start bigint;
  range_end bigint;
  from_seq bigint;
  given record;
begin
  for ends_round in select unnest('{true,false}'::boolean[]) loop
    select n.seq, n.agent_id into range_end, agent_id
    from (
      select m.seq, m.agent_id, m.role, m.metadata from memory.messages as m
      where m.user_id = p_job.user_id and m.thread_id = p_job.scope and m.is_active
        and m.expires_at > statement_timestamp()
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
  chain := case when (policy #>> '{cadence,thread_summary_every_n}')::int > 0 then 'thread' else 'rolling' end;
  if chain = 'thread' then
    perform memory._check_thread_summary_is_free(p_job);
  end if;
  base := memory._latest_summary(p_job.user_id, p_job.scope, chain);
  from_seq := greatest(coalesce(base.end_seq + 1, 0), range_end - (p_job.request ->> 'recent_k')::bigint + 1);
  if chain = 'rolling' then
    range_start := memory._summary_start(range_end, (policy #>> '{summary,window_size}')::bigint);
    from_seq := greatest(from_seq, range_start);
  elsif from_seq > coalesce(base.end_seq + 1, 0) then
    range_start := from_seq; -- what recent_k passes over is read before compression puts it away
  else
    range_start := coalesce(base.start_seq, 0);
  end if;
  select * into given
  from memory._message_payload(p_job.user_id, p_job.scope, from_seq, range_end, false, 1000, 24000);
  if given.messages is null then
    raise debug 'No new messages to summarize for %', memory._in_a_line(p_job.scope);
    return;
  end if;
  if given.is_partial then -- the next jobs summarise the rest of a long backlog
    range_end := given.last_seq;
  end if;
  tokens := given.tokens;
  payload := memory._chat_model(policy #>> '{summary,model}', policy -> 'agent',
      case chain when 'thread' then 'compress_thread' else 'summarize_thread' end)
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
                                        given.agent_ids),
    'chain', chain,
    'from_seq', from_seq,
    'read_through', range_end,
    'is_partial', given.is_partial);
  if p_job.input ->> 'summary_id' <> input ->> 'summary_id' then -- the policy asked for the other chain an attempt ago
    perform memory._end_unfinished_summary(p_job);
  end if;
end;
$$;

-- Where the window of the rolling summary starts: p_window_size messages before its end, at an even seq so that a
-- question keeps its answer.
create or replace function memory._summary_start(p_end_seq bigint, p_window_size bigint)
returns bigint
language sql immutable parallel safe
begin atomic
  select least(start_seq + start_seq % 2, p_end_seq)
  from (select greatest(0, p_end_seq - p_window_size + 1)) as w (start_seq);
end;
