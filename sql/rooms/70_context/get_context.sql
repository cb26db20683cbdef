-- needs pgvector on the search_path

-- The steps of a context: check the arguments; get the embedding of the query, or of the user's newest message
-- (60_search/query_embedding.sql); put the parts together within max_tokens (memory._context_parts()); and if a
-- placeholder of an artifact stands in a part, teach the model what it is.
create or replace function memory.get_context(
  user_id text, thread_id text, query text default null, agent_id text default null,
  max_tokens int default null, query_embedding vector default null, recall boolean default null,
  whole_thread boolean default false, spaces text[] default null, explain boolean default false
)
returns setof memory.context_part
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- The first context of a session plans 410 statements instead of 451.
as $$
declare
  policy jsonb;
  shared text[]; -- the user_ids of the spaces whose memories are shown as well; null for none
  for_thread int := 0; -- tokens beyond the policy's context.max_tokens
  paragraph text; -- what placeholders are: the prompt named placeholders
  needed int; -- the tokens of the paragraph
  room int := 0; -- tokens kept free for the paragraph
  why_no_recall text; -- null if the context recalls earlier messages
  parts memory.context_part[];
  left_out jsonb[];
  named text[]; -- the keys of the artifacts whose placeholders stand in the parts
  opening int; -- the number of the instructions that begin the thread
begin
  perform memory._check_id('user_id', user_id), memory._check_id('thread_id', thread_id),
    memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens),
      'Leave it out for the policy''s context.max_tokens.');
  end if;
  policy := memory._policy(get_context.user_id, get_context.agent_id);
  if num_nonnulls(spaces, policy #> '{context,spaces,0}') > 0
    or not (policy #>> '{resources,memory}')::boolean then -- one expression, as in memory.search()
    shared := memory._spaces_to_read(get_context.user_id, spaces, policy);
    if not (policy #>> '{resources,memory}')::boolean then
      perform memory._note_missing_resource(agent_id, 'memory', 'the context is empty');
      return;
    end if;
  end if;
  -- Without a query the context is made for the user's newest message.
  query := coalesce(
    memory._query_or_null(query),
    memory._newest_question(get_context.user_id, get_context.thread_id, get_context.agent_id));
  if max_tokens is null and whole_thread then
    -- While the thread is under the threshold of its compression, it needs the tokens of all its messages, otherwise of
    -- the newest messages up to the threshold. The thread's own counter decides which case applies, because it counts
    -- fewer tokens than a context.
    for_thread := coalesce((
      select coalesce(u.tokens[cardinality(u.tokens)], 0) + coalesce(u.beginning_tokens, 0)
      from memory.threads as t
      cross join lateral (select (policy #>> '{compression,threshold_tokens}')::bigint as threshold) as c
      cross join lateral memory._newest_units(
        get_context.user_id, get_context.thread_id, get_context.agent_id,
        case when t.active_tokens <= c.threshold then 2147483647 else least(c.threshold, 2147483647) end::int) as u
      where t.user_id = get_context.user_id and t.thread_id = get_context.thread_id), 0);
  end if;
  max_tokens := coalesce(
    max_tokens, least((policy #>> '{context,max_tokens}')::bigint + for_thread, 2147483647)::int);
  -- Where a message of the thread is kept as an artifact, the whole paragraph is kept room for, if a quarter of the
  -- context is enough. Otherwise the context shows the paragraph if the other parts leave room.
  if exists (
    select from memory.messages as m
    where m.user_id = get_context.user_id and m.thread_id = get_context.thread_id and m.artifact_key is not null
      and m.is_active) then
    room := memory._tokens_at_most(memory._prompt('placeholders') ->> 'template');
    room := case when room <= max_tokens / 4 then room else 0 end;
  end if;
  why_no_recall := case
    when recall then null
    when not recall then 'the call switches recall off'
    else memory._why_no_recall(
      get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, policy) end;

  select c.parts, c.left_out into parts, left_out
  from memory._query_model(get_context.user_id, get_context.query, get_context.query_embedding) as m
  cross join lateral memory._query_embedding(
    get_context.user_id, get_context.query, get_context.query_embedding, m) as k
  cross join lateral memory._query_target(
    get_context.user_id, get_context.agent_id, get_context.query, policy, get_context.query_embedding is not null,
    m, k.embedding, k.problem, 'hybrid') as t
  cross join lateral memory._context_parts(
    get_context.user_id, get_context.thread_id, get_context.agent_id, get_context.query, m.name, t.embedding, policy,
    get_context.max_tokens - room, why_no_recall is null, for_thread, coalesce(get_context.explain, false),
    shared) as c;

  named := array(
    select unnest(memory._named_keys(p.content)) from unnest(parts) as p where strpos(p.content, 'MemoryRef: ') > 0);
  if named <> '{}' then
    opening := (select count(*) from unnest(parts) as p where p.ordinal = 0);
    if exists (select from memory._current_artifacts(get_context.user_id) as a where a.key = any (named))
      and opening < cardinality(parts) then
      paragraph := btrim(memory._prompt('placeholders') ->> 'template', e' \n');
      needed := memory._tokens_at_most(paragraph);
      if needed + (select sum(p.token_count) from unnest(parts) as p) <= max_tokens then
        parts := parts[:opening]
          || row(0, 'system', paragraph, 'instructions', needed, '{}')::memory.context_part
          || parts[opening + 1:];
      else
        left_out := left_out || memory._left_out('instructions', 'does not fit', needed);
      end if;
    end if;
  end if;
  return query
  select p.number::int, p.role,
    -- In recalled and summarised texts the placeholders of the user's artifacts work again.
    case when named = '{}' or p.source in ('message', 'instructions') then p.content
      else memory._with_own_refs(get_context.user_id, p.content) end,
    p.source, p.token_count, p.metadata
  from unnest(parts) with ordinality as p (ordinal, role, content, source, token_count, metadata, number);
  if explain then
    if why_no_recall is not null then
      left_out := left_out || memory._left_out('recalled', why_no_recall, 0);
    end if;
    return query
    select null::int, 'system', d.details::text, g.source, g.tokens, d.details
    from (
      select l.item ->> 'source' as source, l.item ->> 'reason' as reason, min(l.place) as place,
        sum((l.item ->> 'tokens')::int)::int as tokens, count(l.item ->> 'id') as things,
        coalesce(array_agg(l.item ->> 'id' order by l.place) filter (where l.item ->> 'id' is not null), '{}') as ids
      from unnest(left_out) with ordinality as l (item, place)
      group by 1, 2) as g
    cross join lateral (
      select jsonb_build_object(
        'source', g.source, 'reason', g.reason, 'tokens', g.tokens, 'count', g.things, 'ids', g.ids[:1000]) as details
    ) as d
    order by g.place;
  end if;
end;
$$;
comment on function memory.get_context(text, text, text, text, int, vector, boolean, boolean, text[], boolean) is
'Chat messages to send to a model, within max_tokens: memories, the summary of the user, what was said before about '
'the query (recall, otherwise the policy''s context.recall), earlier conversations, what the query needs of artifacts '
'that the thread names (context.expand_artifacts), the newest messages of the thread, and a summary of those that do '
'not fit; before them, where a placeholder stands among them, instructions for it (prompt placeholders). The system '
'messages that begin the thread stand first. whole_thread, without max_tokens: context.max_tokens is for everything '
'else, and the thread has as many tokens as it needs until compression.threshold_tokens. Without a '
'query the user''s newest message is the query. metadata of a message holds its tool_calls, tool_call_id and name; '
'metadata of other parts says what was chosen, with the scores. spaces, or else the policy''s context.spaces, names '
'spaces that are granted to the user: their memories stand among the user''s own, each with the name of its space. '
'With explain one more row for each reason for which '
'something was left out, without an ordinal: content, as JSON, has source, reason, tokens, count, and the first '
'thousand ids.';

-- Why the context recalls no earlier messages about the query; null if it recalls them: the policy asks for them, and
-- the query has a subject. A query that only acknowledges ("ok") has no subject. A query that is only an embedding has
-- no words to judge.
create or replace function memory._why_no_recall(
  p_user_id text, p_thread_id text, p_agent_id text, p_query text, p_policy jsonb
)
returns text
language plpgsql stable parallel safe
as $$
declare
  recall constant text := p_policy #>> '{context,recall}';
  said text;
  need memory.memory_need;
begin
  if recall = 'when_needed' then
    need := case when p_query is not null
      then memory._needs_memory(p_user_id, p_thread_id, p_agent_id, p_query, p_policy) end;
    return case when need.decision <> 'search' then 'the query does not need it: ' || need.reason end;
  elsif not recall::boolean then
    return 'the policy switches recall off (context.recall)';
  elsif length(p_query) <= 50 then
    said := btrim(memory._request_words(p_query), '^$ ');
    if said in ('yes', 'no', 'yep', 'yeah', 'nope', 'sure', 'right', 'fine', 'alright', 'k', 'got it', 'sounds good',
                'ja', 'nein', 'sí', 'oui', 'non', 'sim', 'não', '好', '好的')
      or said <> '' and exists (
        select from unnest(memory._greetings()) as phrase where btrim(phrase, '^ ') = said) then
      return 'the query only acknowledges';
    end if;
  end if;
  return null;
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
