-- needs pgvector on the search_path

-- The parts of a context. Stable: no message is missing because it was summarised, or there twice, while this is put together.
create or replace function memory._context_parts(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_model text, p_target halfvec, p_policy jsonb, p_max_tokens int
)
returns setof memory.context_part
language plpgsql stable parallel unsafe
as $$
declare
  remaining int := p_max_tokens;
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
  whole := memory._summary_for(p_user_id, p_thread_id, 'thread', p_agent_id);
  rolling := memory._summary_for(p_user_id, p_thread_id, 'rolling', p_agent_id);
  profile := memory._summary_for(p_user_id, '', 'user', p_agent_id);

  -- The newest message goes in whatever happens; then the summaries, then memories and earlier conversations with at most
  -- their share of what is left, and as many of the messages since the summaries as still fit.
  select f.tokens into newest_tokens
  from memory._fit_messages(p_user_id, p_thread_id, p_agent_id, 9223372036854775807, 0) as f;
  remaining := remaining - newest_tokens;

  -- The rolling summary stands in for messages. After a summary of the whole thread it is needed only when the messages
  -- since do not fit into half of what is left.
  if whole.summary_id is not null and rolling.summary_id is not null and (rolling.end_seq <= whole.end_seq or not exists (
    select from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    where m.seq > whole.end_seq
      and m.seq < (select f.oldest_seq from memory._fit_messages(
                     p_user_id, p_thread_id, p_agent_id, whole.end_seq + 1,
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

  if (p_policy #>> '{knowledge_base,enable_cross_session_context}')::boolean then
    select * into recalled from memory._cross_session_context(p_user_id, p_thread_id, p_agent_id, p_query, p_model, p_target, p_policy,
      floor(remaining * memory._share(p_policy #>> '{context,cross_session_share}'))::int);
    if recalled.content is not null then
      remaining := remaining - recalled.tokens;
      parts := parts || row(3, 'system', recalled.content, 'cross_session', recalled.tokens, recalled.details)::memory.context_part;
    end if;
  end if;

  if remaining > 0 then
    select * into recalled from memory._render_memories(p_user_id, p_agent_id, p_query, p_model, p_target, p_policy,
      (p_policy #>> '{context,max_memories}')::int, floor(remaining * memory._share(p_policy #>> '{context,memories_share}'))::int
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

  return query
  with chosen as (
    select p.ordinal, 0 as seq, p.role, p.content, p.source, p.token_count, p.metadata from unnest(parts) as p
    union all
    select 6, m.seq, m.role, m.content, 'message', memory._message_tokens(m), m.metadata
    from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    where m.seq >= (select f.oldest_seq from memory._fit_messages(
                      p_user_id, p_thread_id, p_agent_id, since_seq, newest_tokens + remaining) as f)
  )
  select row_number() over (order by c.ordinal, c.seq)::int, c.role, c.content, c.source, c.token_count, c.metadata
  from chosen as c order by 1;
end;
$$;
