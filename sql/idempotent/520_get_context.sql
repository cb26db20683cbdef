create or replace function memory.get_context(
  user_id text, thread_id text, query text default null, agent_id text default null,
  max_tokens int default null, query_embedding vector default null
)
returns setof memory.context_part
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables; the embedding of a query is kept
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for the policy''s context.max_tokens.');
  end if;
  policy := memory._policy(get_context.user_id, get_context.agent_id);
  -- What the user said last is what the context is for, unless the caller says.
  query := coalesce(memory._query_or_null(query), memory._newest_question(get_context.user_id, get_context.thread_id, get_context.agent_id));
  return query
  select c.*
  from memory._query_model(get_context.user_id, get_context.query, get_context.query_embedding) as m
  cross join lateral memory._query_embedding(get_context.user_id, get_context.query, get_context.query_embedding, m) as k
  cross join lateral memory._query_target(get_context.user_id, get_context.agent_id, get_context.query,
    (policy #>> '{context,embed_query}')::boolean or get_context.query_embedding is not null, m, k.embedding, k.problem, 'hybrid') as t
  cross join lateral memory._context_parts(
    get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, m.name, t.embedding, policy,
    coalesce(get_context.max_tokens, (policy #>> '{context,max_tokens}')::int)) as c
  order by c.ordinal;
end;
$$;
comment on function memory.get_context(text, text, text, text, int, vector) is
'What to send to the model, ready as chat messages: memories (chosen by relevance to the query, importance and recency), the summary of the user, what earlier conversations say when the user asks for it (policy knowledge_base.enable_cross_session_context), the summary of the thread, and the messages since, within max_tokens; policy context says how it is split. Without a query the user''s newest message is one. The newest message is always there; a tool result is never cut from its call. What was recalled is fenced as data. metadata of a message holds its tool_calls, tool_call_id and name, that of the other parts says what was chosen and why.';

-- The parts of a context. Stable: no message is missing because it was summarised, or there twice, while this is put together.
create or replace function memory._context_parts(
  user_id text, thread_id text, agent_id text, query text, model text, target halfvec, policy jsonb, max_tokens int
)
returns setof memory.context_part
language plpgsql stable parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
declare
  remaining int := max_tokens;
  whole memory.summaries;
  rolling memory.summaries;
  profile memory.summaries;
  part record;
  recalled record;
  parts memory.context_part[] := array[]::memory.context_part[];
  since_seq bigint := 0;
  newest_tokens int;
begin
  -- What one agent asks for has no part in what was said to the others.
  whole := memory._summary_for(_context_parts.user_id, _context_parts.thread_id, 'thread', _context_parts.agent_id);
  rolling := memory._summary_for(_context_parts.user_id, _context_parts.thread_id, 'rolling', _context_parts.agent_id);
  profile := memory._summary_for(_context_parts.user_id, '', 'user', _context_parts.agent_id);

  -- The newest message goes in whatever happens; then the summaries, then memories and earlier conversations with at most
  -- their share of what is left, and as many of the messages since the summaries as still fit.
  select f.tokens into newest_tokens
  from memory._fit_messages(_context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id, 9223372036854775807, 0) as f;
  remaining := remaining - newest_tokens;

  -- The rolling summary stands in for messages. After a summary of the whole thread it is needed only when the messages
  -- since do not fit into half of what is left.
  if whole.summary_id is not null and rolling.summary_id is not null and (rolling.end_seq <= whole.end_seq or not exists (
    select from memory._active_messages(_context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id) as m
    where m.seq > whole.end_seq
      and m.seq < (select f.oldest_seq from memory._fit_messages(
                     _context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id, whole.end_seq + 1,
                     newest_tokens + remaining / 2 - memory._tokens_at_most(memory._fenced(whole.summary))) as f)))
  then
    rolling := null;
  end if;
  for part in
    select p.* from (values
      (4, 'thread_summary', e'Summary of the conversation so far:\n' || memory._paragraph(whole.summary), whole.summary_id, whole.end_seq, whole.summary, whole.token_count),
      (5, 'thread_summary', e'Summary of the conversation so far:\n' || memory._paragraph(rolling.summary), rolling.summary_id, rolling.end_seq, rolling.summary, rolling.token_count),
      (2, 'user_summary', e'What is known about the user:\n' || memory._paragraph(profile.summary), profile.summary_id, null, profile.summary, profile.token_count)
    ) as p (place, source, content, summary_id, end_seq, summary, counted)
    where p.content is not null
  loop
    part.content := memory._fenced(part.content);
    -- What was counted is the summary as it was written; the fence and the heading are 30 tokens.
    part.counted := coalesce(case when strpos(part.content, part.summary) > 0 then part.counted + 40 end, memory._tokens_at_most(part.content));
    if part.counted <= remaining then
      remaining := remaining - part.counted;
      parts := parts || row(part.place, 'system', part.content, part.source, part.counted, jsonb_build_object('summary_id', part.summary_id))::memory.context_part;
      since_seq := greatest(since_seq, part.end_seq + 1);
    else
      raise notice 'degraded: the % does not fit into max_tokens', replace(part.source, '_', ' ')
        using hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
    end if;
  end loop;

  if (policy #>> '{knowledge_base,enable_cross_session_context}')::boolean then
    select * into recalled from memory._cross_session_context(_context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id, query, model, target, policy,
      floor(remaining * memory._share(policy #>> '{context,cross_session_share}'))::int);
    if recalled.content is not null then
      remaining := remaining - recalled.tokens;
      parts := parts || row(3, 'system', recalled.content, 'cross_session', recalled.tokens, recalled.details)::memory.context_part;
    end if;
  end if;

  if remaining > 0 then
    select * into recalled from memory._render_memories(_context_parts.user_id, _context_parts.agent_id, query, model, target, policy,
      (policy #>> '{context,max_memories}')::int, floor(remaining * memory._share(policy #>> '{context,memories_share}'))::int
        - memory._tokens_at_most(memory._fenced('')));
    if recalled.block <> '' then
      recalled.block := memory._fenced(recalled.block);
      parts := parts || row(1, 'system', recalled.block, 'memories', memory._tokens_at_most(recalled.block),
                            jsonb_build_object('memories', recalled.chosen))::memory.context_part;
      remaining := remaining - parts[cardinality(parts)].token_count;
    end if;
  end if;
  if not exists (select from unnest(parts) as p where p.source = 'memories')
    and exists (select from memory._valid_memories(_context_parts.user_id, _context_parts.agent_id) as m) then
    raise notice 'degraded: no memories fit into max_tokens'
      using hint = 'Raise max_tokens, or the policy''s context.memories_share.';
  end if;

  return query
  with chosen as (
    select p.ordinal, 0 as seq, p.role, p.content, p.source, p.token_count, p.metadata from unnest(parts) as p
    union all
    select 6, m.seq, m.role, m.content, 'message', memory._message_tokens(m), m.metadata
    from memory._active_messages(_context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id) as m
    where m.seq >= (select f.oldest_seq from memory._fit_messages(
                      _context_parts.user_id, _context_parts.thread_id, _context_parts.agent_id, since_seq, newest_tokens + remaining) as f)
  )
  select row_number() over (order by c.ordinal, c.seq)::int, c.role, c.content, c.source, c.token_count, c.metadata
  from chosen as c order by 1;
end;
$$;

-- What the user said last, without what was recalled for it.
create or replace function memory._newest_question(user_id text, thread_id text, agent_id text)
returns text
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set enable_sort = off -- as in memory._fit_messages()
set enable_bitmapscan = off
set jit = off
as $$
begin
  return q.said
  from (select m.role, memory._without_recalled(left(m.content, 65536)) as said
        from memory._active_messages(_newest_question.user_id, _newest_question.thread_id, _newest_question.agent_id) as m
        order by m.seq desc limit 20) as q -- further back it is no longer what the conversation is about
  where q.role = 'user' and q.said ~ e'\\S' limit 1;
end;
$$;

-- The current summary of a kind, unless an agent asks and it draws on what was said to others.
create or replace function memory._summary_for(user_id text, thread_id text, kind text, agent_id text)
returns memory.summaries
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  summary memory.summaries := memory._latest_summary(user_id, thread_id, kind);
begin
  return case when agent_id is null or summary.agent_ids <@ array[agent_id] then summary end;
end;
$$;
