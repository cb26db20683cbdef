-- needs pgvector on the search_path

-- The steps of a context: check the arguments; get the embedding of the query, or of the user's newest message
-- (60_search/query_embedding.sql); and put the parts together within max_tokens (memory._context_parts()).
create or replace function memory.get_context(
  user_id text, thread_id text, query text default null, agent_id text default null,
  max_tokens int default null, query_embedding vector default null, recall boolean default null,
  whole_thread boolean default false
)
returns setof memory.context_part
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  policy jsonb;
  room int; -- tokens kept free for the paragraph about placeholders
  for_thread int := 0; -- tokens beyond the policy's context.max_tokens
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('thread_id', thread_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens),
      'Leave it out for the policy''s context.max_tokens.');
  end if;
  policy := memory._policy(get_context.user_id, get_context.agent_id);
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(agent_id, 'memory', 'the context is empty');
    return;
  end if;
  -- Without a query the context is made for the user's newest message.
  query := coalesce(
    memory._query_or_null(query),
    memory._newest_question(get_context.user_id, get_context.thread_id, get_context.agent_id));
  if max_tokens is null and whole_thread then
    for_thread := memory._tokens_until_compression(
      get_context.user_id, get_context.thread_id, get_context.agent_id, policy);
  end if;
  max_tokens := coalesce(
    max_tokens, least((policy #>> '{context,max_tokens}')::bigint + for_thread, 2147483647)::int);
  room := memory._instruction_room(get_context.user_id, get_context.thread_id, max_tokens);
  return query
  select i.*
  from memory._query_model(get_context.user_id, get_context.query, get_context.query_embedding) as m
  cross join lateral memory._query_embedding(
    get_context.user_id, get_context.query, get_context.query_embedding, m) as k
  cross join lateral memory._query_target(
    get_context.user_id, get_context.agent_id, get_context.query,
    memory._compares_meaning(policy, m, get_context.query_embedding is not null),
    m, k.embedding, k.problem, 'hybrid') as t
  cross join lateral memory._kept_texts(
    get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, m.name, t.embedding, policy,
    get_context.max_tokens - room - for_thread) as x
  cross join lateral memory._with_instructions(get_context.user_id, array(
    select row(p.ordinal, p.role, p.content, p.source, p.token_count, p.metadata)::memory.context_part
    from (
      select x.*, false as is_of_thread
      where x.content is not null
      union all
      select c.*, c.ordinal > 0 and c.source in ('thread_summary', 'message')
      from memory._context_parts(
        get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, m.name, t.embedding,
        policy, get_context.max_tokens - room - coalesce(x.token_count, 0),
        coalesce(get_context.recall, memory._recalls(
          get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, policy)),
        for_thread) as c) as p
    order by p.ordinal > 0, p.is_of_thread, p.ordinal), get_context.max_tokens) as i
  order by i.ordinal;
end;
$$;
comment on function memory.get_context(text, text, text, text, int, vector, boolean, boolean) is
'Chat messages to send to a model, within max_tokens: memories, the summary of the user, what was said before about '
'the query (recall, otherwise the policy''s context.recall), earlier conversations, what the query needs of artifacts '
'that the thread names (context.expand_artifacts), the newest messages of the thread, and a summary of those that do '
'not fit; before them, where a placeholder stands among them, instructions for it (prompt placeholders). The system '
'messages that begin the thread stand first. whole_thread, without max_tokens: context.max_tokens is for everything '
'else, and the thread has as many tokens as it needs until compression.threshold_tokens. Without a '
'query the user''s newest message is the query. metadata of a message holds its tool_calls, tool_call_id and name; '
'metadata of other parts says what was chosen, with the scores.';

-- The number of tokens of a thread's messages as a context counts tokens. While the thread is under the threshold of
-- its compression, all messages count, otherwise the newest messages up to the threshold. The thread's own counter
-- decides which case applies, because it counts fewer tokens than a context.
create or replace function memory._tokens_until_compression(
  p_user_id text, p_thread_id text, p_agent_id text, p_policy jsonb
)
returns int
language plpgsql stable parallel safe
as $$
declare
  threshold constant bigint := (p_policy #>> '{compression,threshold_tokens}')::bigint;
  units record; -- of memory._newest_units()
begin
  select u.* into units
  from memory.threads as t
  cross join lateral memory._newest_units(p_user_id, p_thread_id, p_agent_id,
    case when t.active_tokens <= threshold then 2147483647 else least(threshold, 2147483647) end::int) as u
  where t.user_id = p_user_id and t.thread_id = p_thread_id;
  return coalesce(units.tokens[cardinality(units.tokens)], 0) + coalesce(units.beginning_tokens, 0);
end;
$$;

-- Whether a context compares texts by meaning: the caller gives the embedding of the query, or the server may ask a
-- model for the embedding. If no embedding model is active, the server asks none, because each call would then raise a
-- notice.
create or replace function memory._compares_meaning(p_policy jsonb, p_model memory.models, p_is_given boolean)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return p_is_given or p_model.name is not null and (p_policy #>> '{context,embed_query}')::boolean;
end;
$$;

-- Whether the context recalls earlier messages about the query: the policy asks for them, and the query has a subject.
-- A query that only acknowledges ("ok") has no subject. A query that is only an embedding has no words to judge.
create or replace function memory._recalls(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_policy jsonb
)
returns boolean
language plpgsql stable parallel safe
as $$
declare
  recall constant text := p_policy #>> '{context,recall}';
begin
  if recall <> 'when_needed' then
    return recall::boolean and memory._only_acknowledges(p_query) is not true;
  end if;
  return p_query is null
    or (memory._needs_memory(p_user_id, p_thread_id, p_agent_id, p_query, p_policy)).decision = 'search';
end;
$$;

-- The user's newest message, without the recalled text that the application may have sent with it. The function reads
-- only the newest twenty messages, because the conversation has moved on from earlier ones.
create or replace function memory._newest_question(p_user_id text, p_thread_id text, p_agent_id text)
returns text
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._newest_units()
set enable_bitmapscan = off
set jit = off
as $$
begin
  return q.said
  from (
    select m.role, memory._without_recalled(left(m.content, 65536)) as said
    from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
    order by m.seq desc limit 20
  ) as q
  where q.role = 'user' and q.said ~ e'\\S'
  limit 1;
end;
$$;
