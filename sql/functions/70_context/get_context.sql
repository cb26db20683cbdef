-- needs pgvector on the search_path

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

-- What the user said last, without what was recalled for it.
create or replace function memory._newest_question(p_user_id text, p_thread_id text, p_agent_id text)
returns text
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._fit_messages()
set enable_bitmapscan = off
set jit = off
as $$
begin
  return q.said
  from (select m.role, memory._without_recalled(left(m.content, 65536)) as said
        from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
        order by m.seq desc limit 20) as q -- further back it is no longer what the conversation is about
  where q.role = 'user' and q.said ~ e'\\S' limit 1;
end;
$$;

-- The current summary of a kind, unless an agent asks and it draws on what was said to others.
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
