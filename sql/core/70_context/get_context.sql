-- needs pgvector on the search_path

-- A context is gathered, fitted and rendered: each part is a function that offers texts, memory._fitted() calls them in
-- the order in which they get tokens, and memory._rendered() puts what is shown in its place and says why the rest is
-- not. The function is volatile, because it keeps the embedding of the query and what it has recalled.
create or replace function memory.get_context(
  user_id text, thread_id text, query text default null, agent_id text default null,
  max_tokens int default null, query_embedding vector default null, recall boolean default null,
  whole_thread boolean default false, spaces text[] default null, explain boolean default false,
  layout text default null, memory_types text[] default null, tags_any text[] default null,
  exclude_tags text[] default null, filter jsonb default null
)
returns setof memory.context_part
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- The first context of a session plans 410 statements instead of 451.
as $$
declare
  filters constant memory._search_filters :=
    memory._filters_of_memories(memory_types, tags_any, exclude_tags, filter);
  policy jsonb;
  shared text[]; -- the user_ids of the spaces whose memories are shown as well; null for none
  for_thread int := 0; -- tokens beyond the policy's context.max_tokens
  asking memory._asking;
  history memory._offer[];
  made record; -- of memory._fitted()
begin
  perform memory._check_id('user_id', user_id), memory._check_id('thread_id', thread_id),
    memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens),
      'Leave it out for the policy''s context.max_tokens.');
  end if;
  policy := memory._policy(get_context.user_id, get_context.agent_id);
  layout := coalesce(layout, policy #>> '{context,layout}');
  if layout not in ('cached', 'before') then
    perform memory._refuse('layout', format('unknown layout "%s"', left(layout, 50)), 'Use cached or before.');
  end if;
  if num_nonnulls(spaces, policy #> '{context,spaces,0}') > 0
    or not (policy #>> '{resources,memory}')::boolean then -- one expression, as in memory.search()
    shared := memory._spaces_to_read(get_context.user_id, spaces, policy);
    if not (policy #>> '{resources,memory}')::boolean then
      perform memory._note_missing_resource(agent_id, 'memory', 'the context is empty');
      return;
    end if;
  end if;
  if recall is not null then
    policy := jsonb_set(policy, '{context,recall}', to_jsonb(recall));
  end if;
  if policy #>> '{context,recall}' = 'false' then
    policy := jsonb_set(policy, '{context,keep_recalled}', 'false'); -- nothing recalled at all, nor kept from before
  end if;
  -- Without a query the context is made for the user's newest message.
  query := coalesce(
    memory._query_or_null(query),
    memory._newest_question(get_context.user_id, get_context.thread_id, get_context.agent_id));
  asking := memory._asking_of(
    get_context.user_id, get_context.thread_id, get_context.agent_id, query, query_embedding, policy, filters, layout,
    coalesce(explain, false), shared, p_why_no_recall => case
      when recall then null
      when not recall then 'the call switches recall off'
      when policy #>> '{context,recall}' = 'false' then 'the policy switches recall off (context.recall)'
      when length(query) <= 50 and memory._acknowledges(memory._wording(query)) then 'the query only acknowledges' end);
  history := memory._recalled_part(5, 0, memory._whole_history(asking, max_tokens));
  if history <> '{}' then
    asking := jsonb_populate_record(asking, jsonb_build_object(
      'why_no_recall', 'the whole history stands in the context',
      'policy', jsonb_set(policy, '{context,keep_recalled}', 'false')));
  end if;
  if max_tokens is null and whole_thread then
    for_thread := memory._whole_thread_tokens(asking);
  end if;
  for_thread := for_thread + memory._shown_tokens(history);
  max_tokens := coalesce(
    max_tokens, least((policy #>> '{context,max_tokens}')::bigint + for_thread, 2147483647)::int);

  select f.* into made from memory._fitted(asking, max_tokens, for_thread, history) as f;
  if cardinality(made.recalled) > 0 then
    perform memory._keep_round(asking, made.request, made.from_seq, made.most, made.recalled);
  end if;
  return query select r.* from memory._rendered(asking, made.offers) as r;
end;
$$;
comment on function memory.get_context(
  text, text, text, text, int, vector, boolean, boolean, text[], boolean, text, text[], text[], text[], jsonb
) is
'Chat messages to send to a model, within max_tokens. In the layout cached: the system messages that begin the thread; '
'instructions for placeholders, where one stands in the context (prompt placeholders); the summary of the user; the '
'memories that stand in every context; earlier conversations; a summary of the messages that do not fit; the newest '
'messages of the thread; and before the newest message of the user what the query asks for: memories, what was said '
'before about it (recall, otherwise the policy''s context.recall), and what it needs of artifacts that the thread '
'names (context.expand_artifacts). So a provider''s cache of prompts keeps the beginning; metadata.cache says how long '
'a part stays: stable, thread or volatile. In the layout before (otherwise the policy''s context.layout) all that is '
'remembered stands before the thread. whole_thread, without max_tokens: context.max_tokens is for everything '
'else, and the thread has as many tokens as it needs until compression.threshold_tokens. Without a '
'query the user''s newest message is the query. metadata of a message holds its tool_calls, tool_call_id and name; '
'metadata of other parts says what was chosen, with the scores. spaces, or else the policy''s context.spaces, names '
'spaces that are granted to the user: their memories stand among the user''s own, each with the name of its space. '
'memory_types, tags_any, exclude_tags and filter say which memories may stand there, as in memory.search(). '
'With explain one more row for each reason for which something was left out, without an ordinal: content, as JSON, has '
'source, reason, tokens, count, and the first thousand ids.';

-- What a context or a block of memories is made for, with the embedding of the query. p_near, the relevance from which
-- on something said has to do with the query, is the policy's context.min_relevance if it is not given. Where the query
-- has no embedding, any of its words tells: an answer may have few words of its question, and no word of a common
-- subject weighs much; unless the policy recalls only what is needed.
create or replace function memory._asking_of(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_query_embedding vector, p_policy jsonb,
  p_filters memory._search_filters default null, p_layout text default null, p_explains boolean default false,
  p_spaces text[] default null, p_near double precision default null, p_why_no_recall text default null
)
returns memory._asking
language plpgsql volatile parallel unsafe
as $$
begin
  return (
    select row(
      p_user_id, p_thread_id, p_agent_id, p_query, m.name, t.embedding, p_policy, p_layout, p_explains, p_spaces,
      p_filters, case
        when p_near is not null then p_near
        when t.embedding is null and p_policy #>> '{context,recall}' <> 'when_needed' then 0
        else memory._share(p_policy #>> '{context,min_relevance}') end,
      p_why_no_recall)::memory._asking
    from memory._query_model(p_user_id, p_query, p_query_embedding) as m
    cross join lateral memory._query_embedding(p_user_id, p_query, p_query_embedding, m) as k
    cross join lateral memory._query_target(
      p_user_id, p_agent_id, p_query, p_policy, p_query_embedding is not null, m, k.embedding, k.problem, 'hybrid'
    ) as t);
end;
$$;

-- The user's newest message, without the recalled text that the application may have sent with it. Of a round that is
-- open it is the request; otherwise the function reads only the newest twenty messages, because the conversation has
-- moved on from earlier ones.
create or replace function memory._newest_question(p_user_id text, p_thread_id text, p_agent_id text)
returns text
language plpgsql stable parallel safe
set enable_sort = off -- as in memory._newest_units()
as $$
begin
  return coalesce((
    select q.said
    from (
      select m.role, memory._without_recalled(left(m.content, 65536)) as said
      from memory._active_messages(p_user_id, p_thread_id, p_agent_id) as m
      order by m.seq desc limit 20
    ) as q
    where q.role = 'user' and q.said ~ e'\\S'
    limit 1), (
    select s.said
    from memory._newest_request(p_user_id, p_thread_id, p_agent_id) as r
    cross join lateral memory._without_recalled(left(r.content, 65536)) as s (said)
    where r.is_open and s.said ~ e'\\S'));
end;
$$;
