create or replace function memory.get_context(
  user_id text, thread_id text, query text default null, agent_id text default null,
  max_tokens int default null, query_embedding vector default null
)
returns setof memory.context_part
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  remaining int;
  whole memory.summaries;
  rolling memory.summaries;
  profile memory.summaries;
  part record;
  texts text[] := array[]::text[];
  memories text;
  since_seq bigint := 0;
  from_seq bigint;
  newest_tokens int;
  next_ordinal int := 1;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for the policy''s context.max_tokens.');
  end if;
  policy := memory._policy(get_context.user_id, get_context.agent_id);
  remaining := coalesce(max_tokens, (policy #>> '{context,max_tokens}')::int);

  -- What one agent asks for has no part in what was said to the others.
  whole := memory._summary_for(get_context.user_id, get_context.thread_id, 'thread', get_context.agent_id);
  rolling := memory._summary_for(get_context.user_id, get_context.thread_id, 'rolling', get_context.agent_id);
  profile := memory._summary_for(get_context.user_id, '', 'user', get_context.agent_id);

  -- The newest message goes in whatever happens; then the thread's summaries, the user's, the memories with at most a
  -- quarter of what is left, and as many of the messages since the summaries as still fit.
  select f.tokens into newest_tokens
  from memory._fit_messages(get_context.user_id, get_context.thread_id, get_context.agent_id, 9223372036854775807, 0) as f;
  remaining := remaining - newest_tokens;

  -- The rolling summary stands in for messages. After a summary of the whole thread it is needed only when the messages
  -- since do not fit.
  if whole.summary_id is not null and (rolling.summary_id is null or rolling.end_seq <= whole.end_seq or (
    select coalesce(sum(m.token_count), 0) from memory.messages as m
    where m.user_id = get_context.user_id and m.thread_id = get_context.thread_id and m.seq > whole.end_seq
      and (get_context.agent_id is null or m.agent_id = get_context.agent_id) and m.is_active and m.expires_at > statement_timestamp()
  ) - newest_tokens + memory._estimate_tokens(whole.summary) <= remaining / 2) then
    rolling := null;
  end if;
  -- memory._without_recalled() knows these headings.
  for part in
    select p.* from (values
      (1, 'thread_summary', e'Summary of the conversation so far:\n' || memory._paragraph(whole.summary), whole.end_seq),
      (2, 'thread_summary', e'Summary of the conversation so far:\n' || memory._paragraph(rolling.summary), rolling.end_seq),
      (3, 'user_summary', e'What is known about the user:\n' || memory._paragraph(profile.summary), null)
    ) as p (place, source, content, end_seq)
    where p.content is not null order by p.place
  loop
    if memory._estimate_tokens(part.content) <= remaining then
      remaining := remaining - memory._estimate_tokens(part.content);
      texts[part.place] := part.content;
      since_seq := greatest(since_seq, part.end_seq + 1);
    else
      raise notice 'degraded: the % does not fit into max_tokens', replace(part.source, '_', ' ');
    end if;
  end loop;

  if remaining >= 8 then
    memories := nullif(memory.render_memories(get_context.user_id, get_context.agent_id, get_context.query,
      (policy #>> '{context,max_memories}')::int, greatest(remaining / 4, 8), get_context.query_embedding), '');
  end if;
  if memories is null and exists (select from memory._visible_memories(get_context.user_id, null, false) as m
                                  where get_context.agent_id is null or m.agent_id = get_context.agent_id) then
    raise notice 'degraded: no memories fit into max_tokens';
  end if;
  remaining := remaining - coalesce(memory._estimate_tokens(memories), 0);
  for part in
    select p.* from (values (1, 'memories', memories), (2, 'user_summary', texts[3]), (3, 'thread_summary', texts[1]), (4, 'thread_summary', texts[2])
    ) as p (place, source, content)
    where p.content is not null order by p.place
  loop
    return next row(next_ordinal, 'system', part.content, part.source, memory._estimate_tokens(part.content), '{}')::memory.context_part;
    next_ordinal := next_ordinal + 1;
  end loop;

  select f.oldest_seq into from_seq
  from memory._fit_messages(get_context.user_id, get_context.thread_id, get_context.agent_id, since_seq, newest_tokens + remaining) as f;
  return query
  select next_ordinal - 1 + row_number() over (order by m.seq)::int, m.role, m.content, 'message', m.token_count, m.metadata
  from memory.messages as m
  where m.user_id = get_context.user_id and m.thread_id = get_context.thread_id and m.seq >= from_seq
    and (get_context.agent_id is null or m.agent_id = get_context.agent_id)
    and m.is_active and m.expires_at > statement_timestamp()
  order by m.seq;
end;
$$;
comment on function memory.get_context(text, text, text, text, int, vector) is
'What to send to the model, ready as chat messages: memories (those that match the query first), the summary of the user, that of the thread, and the messages since, within max_tokens. The newest message is always there; a tool result is never cut from its call. metadata of a message holds its tool_calls, tool_call_id and name.';

-- How far back the newest messages of a thread fit into a budget, not going beyond from_seq. Reads no further than that.
-- Tool results stay with the message that called the tools; the newest message counts even when nothing fits.
create or replace function memory._fit_messages(user_id text, thread_id text, agent_id text, from_seq bigint, budget int)
returns table (oldest_seq bigint, tokens int)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
-- Walk the primary key backwards and stop early; a plan that sorts reads the whole thread first.
set enable_sort = off
set enable_bitmapscan = off
as $$
declare
  message record;
  unit_tokens int := 0;
  newest_of_unit bigint;
begin
  tokens := 0;
  for message in
    select m.seq, m.role, m.token_count from memory.messages as m
    where m.user_id = _fit_messages.user_id and m.thread_id = _fit_messages.thread_id
      and (_fit_messages.agent_id is null or m.agent_id = _fit_messages.agent_id)
      and m.is_active and m.expires_at > statement_timestamp()
    order by m.seq desc
  loop
    unit_tokens := unit_tokens + message.token_count;
    newest_of_unit := coalesce(newest_of_unit, message.seq);
    if message.role <> 'tool' then
      exit when oldest_seq is not null and (newest_of_unit < from_seq or tokens + unit_tokens > budget);
      oldest_seq := message.seq;
      tokens := tokens + unit_tokens;
      unit_tokens := 0;
      newest_of_unit := null;
    end if;
  end loop;
  -- Tool results whose call is gone stand for themselves when there is nothing else.
  if oldest_seq is null and newest_of_unit is not null then
    oldest_seq := message.seq;
    tokens := unit_tokens;
  end if;
  return next;
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

-- Without empty lines: when the application sends it back, memory._without_recalled() sees where it ends.
create or replace function memory._paragraph(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return btrim(regexp_replace(content, e'\\n\\s*\\n', e'\n', 'g'), e' \t\r\n');
end;
$$;
