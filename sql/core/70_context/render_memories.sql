-- needs pgvector on the search_path

create or replace function memory.render_memories(
  user_id text, agent_id text default null, query text default null,
  max_memories int default 20, max_tokens int default null, query_embedding vector default null,
  dates boolean default false, memory_types text[] default null, tags_any text[] default null,
  exclude_tags text[] default null, filter jsonb default null, min_relevance double precision default null
)
returns text
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan -- planning takes three times as long as running
as $$
declare
  policy jsonb;
  filters constant memory._search_filters :=
    memory._filters_of_memories(memory_types, tags_any, exclude_tags, filter);
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  if (max_memories >= 1) is not true then
    perform memory._refuse('max_memories', format('%s is less than 1', coalesce(max_memories::text, 'null')),
      '20 is the default.');
  end if;
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens), 'Leave it out for no limit.');
  end if;
  if min_relevance not between 0 and 1 then
    perform memory._refuse('min_relevance', format('%s is not between 0 and 1', min_relevance),
      'Leave it out for the most useful memories, whatever their relevance.');
  end if;
  policy := memory._policy(render_memories.user_id, render_memories.agent_id);
  if not (policy #>> '{resources,memory}')::boolean then
    perform memory._note_missing_resource(agent_id, 'memory', 'nothing is recalled');
    return '';
  end if;
  return coalesce((
    select p.content
    from unnest(memory._memories_part(memory._memory_offers(
      memory._asking_of(
        render_memories.user_id, null, render_memories.agent_id, memory._query_or_null(query), query_embedding, policy,
        filters, p_near => min_relevance),
      case when min_relevance is null then 'all' else 'asked' end, 9, max_memories,
      max_tokens - memory._tokens_at_most(memory._heading_of('memories')), coalesce(dates, false)), false)) as p
    where p.why_not is null), '');
end;
$$;
comment on function memory.render_memories(
  text, text, text, int, int, vector, boolean, text[], text[], text[], jsonb, double precision
) is
'The memories of a user as a block for a system prompt, headed "## Your Memories" and grouped by type: chosen by '
'relevance to the query, importance and recency (policy context), at most max_memories and max_tokens. With dates each '
'line says since when the memory holds, where that is known and not today. memory_types, tags_any, exclude_tags and '
'filter say which memories may be chosen, as in memory.search(); with min_relevance only memories that are as relevant '
'to the query. Empty text when there are none.';
