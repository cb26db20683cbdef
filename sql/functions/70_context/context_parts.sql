-- needs pgvector on the search_path

-- The parts of a context. They are shown in the order of their places:
--   1  memories        what is remembered about the user
--   2  user_summary    the summary of the user
--   3  cross_session   earlier conversations, where the policy allows them and the query asks for them
--   4  thread_summary  the summary of the whole thread
--   5  thread_summary  the rolling summary of the thread's older messages
--   6  message         the messages since the summaries
-- The code gives out tokens in this order: to the newest message, whatever it costs; to the summaries (4, 5, 2); to
-- earlier conversations (3) and then memories (1), each at most its share of the tokens that are left; and the rest to
-- older messages (6). Stable, so that everything is read from one snapshot: a message that is summarised meanwhile is
-- neither missing nor there twice.
create or replace function memory._context_parts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb,
  p_max_tokens int
)
returns setof memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  remaining int := p_max_tokens;
  parts memory.context_part[] := array[]::memory.context_part[]; -- ordinal is the place
  newest_tokens int;
  since_seq bigint := 0; -- messages before this one are in a summary
  whole memory.summaries;
  rolling memory.summaries;
  profile memory.summaries;
  part record;
  recalled record;
begin
  -- The newest message.
  select f.tokens into newest_tokens
  from memory._fit_messages(p_user_id, p_thread_id, p_agent_id, 9223372036854775807, 0) as f;
  remaining := remaining - newest_tokens;

  -- Summaries. The rolling one replaces messages. After a summary of the whole thread it is needed only when the
  -- messages since that summary do not fit into half of what is left.
  whole := memory._summary_for(p_user_id, p_thread_id, 'thread', p_agent_id);
  rolling := memory._summary_for(p_user_id, p_thread_id, 'rolling', p_agent_id);
  profile := memory._summary_for(p_user_id, '', 'user', p_agent_id);
  if whole.summary_id is not null and rolling.summary_id is not null and (
    rolling.end_seq <= whole.end_seq
    or not exists (
      select from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
      where m.seq > whole.end_seq
        and m.seq < (
          select f.oldest_seq
          from memory._fit_messages(
            p_user_id, p_thread_id, p_agent_id, whole.end_seq + 1,
            newest_tokens + remaining / 2 - memory._tokens_at_most(memory._fenced(whole.summary))) as f)))
  then
    rolling := null;
  end if;
  for part in
    select s.*
    from (values
      (4, 'thread_summary', 'Summary of the conversation so far:', whole.summary_id, whole.end_seq, whole.summary,
       whole.token_count),
      (5, 'thread_summary', 'Summary of the conversation so far:', rolling.summary_id, rolling.end_seq, rolling.summary,
       rolling.token_count),
      (2, 'user_summary', 'What is known about the user:', profile.summary_id, null, profile.summary,
       profile.token_count)
    ) as s (place, source, content, summary_id, end_seq, summary, tokens)
    where s.summary is not null
  loop
    part.content := memory._fenced(part.content || e'\n' || memory._paragraph(part.summary));
    -- token_count counts the summary as it was written. The fence and the heading are 30 tokens.
    part.tokens := case
      when part.tokens is not null and strpos(part.content, part.summary) > 0 then part.tokens + 40
      else memory._tokens_at_most(part.content) end;
    if part.tokens <= remaining then
      remaining := remaining - part.tokens;
      since_seq := greatest(since_seq, part.end_seq + 1);
      parts := parts || row(part.place, 'system', part.content, part.source, part.tokens,
                            jsonb_build_object('summary_id', part.summary_id))::memory.context_part;
    else
      raise notice 'degraded: the % does not fit into max_tokens', replace(part.source, '_', ' ')
        using hint = 'Raise max_tokens, or the policy''s context.max_tokens.';
    end if;
  end loop;

  -- Earlier conversations.
  if (p_policy #>> '{knowledge_base,enable_cross_session_context}')::boolean then
    select * into recalled
    from memory._cross_session_context(
      p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy,
      floor(remaining * memory._share(p_policy #>> '{context,cross_session_share}'))::int);
    if recalled.content is not null then
      remaining := remaining - recalled.tokens;
      parts := parts || row(3, 'system', recalled.content, 'cross_session', recalled.tokens,
                            recalled.details)::memory.context_part;
    end if;
  end if;

  -- Memories.
  if remaining > 0 then
    select * into recalled
    from memory._render_memories(
      p_user_id, p_agent_id, p_query, p_model, p_target, p_policy, (p_policy #>> '{context,max_memories}')::int,
      floor(remaining * memory._share(p_policy #>> '{context,memories_share}'))::int
        - memory._tokens_at_most(memory._fenced('')));
    if recalled.block <> '' then
      recalled.block := memory._fenced(recalled.block);
      parts := parts || row(1, 'system', recalled.block, 'memories', memory._tokens_at_most(recalled.block),
                            jsonb_build_object('memories', recalled.chosen))::memory.context_part;
      remaining := remaining - parts[cardinality(parts)].token_count;
    end if;
  end if;
  if not exists (select from unnest(parts) as p where p.source = 'memories')
    and exists (select from memory._valid_memories(p_user_id, p_agent_id) as m) then
    raise notice 'degraded: no memories fit into max_tokens'
      using hint = 'Raise max_tokens, or the policy''s context.memories_share.';
  end if;

  -- The messages since the summaries.
  return query
  with chosen as (
    select p.ordinal as place, 0 as seq, p.role, p.content, p.source, p.token_count, p.metadata
    from unnest(parts) as p
    union all
    select 6, m.seq, m.role, m.content, 'message', memory._message_tokens(m), m.metadata
    from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    where m.seq >= (
      select f.oldest_seq
      from memory._fit_messages(p_user_id, p_thread_id, p_agent_id, since_seq, newest_tokens + remaining) as f)
  )
  select row_number() over (order by c.place, c.seq)::int, c.role, c.content, c.source, c.token_count, c.metadata
  from chosen as c
  order by 1;
end;
$$;

-- The current summary of a kind. Null for an agent if the summary was also made from messages of other agents.
create or replace function memory._summary_for(p_user_id text, p_thread_id text, p_kind text, p_agent_id text)
returns memory.summaries
language plpgsql stable parallel safe
as $$
declare
  summary memory.summaries := memory._latest_summary(p_user_id, p_thread_id, p_kind);
begin
  return case when p_agent_id is null or summary.agent_ids <@ array[p_agent_id] then summary end;
end;
$$;
