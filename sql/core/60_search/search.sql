-- needs pgvector on the search_path

-- The steps of a search: check the arguments; get the embedding of the query (query_embedding.sql); rank the texts that
-- the user may see (ranking.sql) and join a memory with its message (one_result.sql); read the results from their
-- sources (shown.sql); and rerank them if the caller or the policy asks for reranking (rerank.sql).
--
-- The default of sources includes messages: among memories alone a search finds less. The default leaves artifacts out:
-- their results are placeholders, and long outputs hold nearly any word.
create or replace function memory.search(
  user_id text, query text default null, query_embedding vector default null, mode text default 'hybrid',
  sources text[] default '{memory,message,document,summary}', agent_id text default null,
  thread_id text default null, exclude_thread_id text default null, memory_types text[] default null,
  tags_all text[] default null, tags_any text[] default null, exclude_tags text[] default null,
  filter jsonb default null, min_score double precision default null, min_confidence double precision default null,
  created_after timestamptz default null, created_before timestamptz default null,
  as_of timestamptz default null, include_superseded boolean default false, rerank boolean default null,
  explain boolean default false, top_k int default 10, doc_types text[] default null, namespaces text[] default null,
  spaces text[] default null, min_relevance real default null
)
returns setof memory.search_result
-- Volatile, because the function keeps the embedding of the query.
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  policy jsonb;
  filters constant memory._search_filters := memory._filters(
    thread_id, exclude_thread_id, memory_types, tags_all, tags_any, exclude_tags, filter, min_confidence,
    created_after, created_before, as_of, include_superseded, doc_types, namespaces, memory._time_asked(query));
  shared text[]; -- the user_ids of the spaces that are searched as well; null for none
  missing text;
  to_embed text;
  results memory.search_result[];
begin
  perform memory._check_search(user_id, mode, sources, agent_id, filters, min_score, top_k, min_relevance);
  query := memory._query_or_null(query);
  if query is null and (query_embedding is null or mode = 'keyword') then
    perform memory._refuse('query', 'must not be empty',
      case mode when 'keyword' then 'Pass what to look for in words.'
                else 'Pass what to look for in words, as query_embedding, or both.' end);
  end if;

  policy := memory._policy(user_id, agent_id);
  min_relevance := coalesce(min_relevance, (policy #>> '{search,min_relevance}')::real);
  -- Documents need the resource knowledge_base, all other sources the resource memory.
  if num_nonnulls(spaces, policy #> '{context,spaces,0}') > 0
    or not ((policy #>> '{resources,memory}')::boolean and (policy #>> '{resources,knowledge_base}')::boolean) then
    shared := memory._spaces_to_read(user_id, spaces, policy);
    missing := case when sources = '{document}' then 'knowledge_base' else 'memory' end;
    sources := array(
      select s.source from unnest(sources) as s (source)
      where (policy #>> array['resources', case s.source when 'document' then 'knowledge_base' else 'memory' end]
            )::boolean);
    if sources = '{}' then
      perform memory._note_missing_resource(agent_id, missing,
        case missing when 'memory' then 'nothing is recalled' else 'no documents are searched' end);
      return;
    end if;
  end if;

  if mode = 'keyword' then
    query_embedding := null;
  else
    to_embed := query;
  end if;
  if rerank and query is null then
    raise notice 'degraded: results are not reranked, there is no query in words'
      using errcode = '01AM5', hint = 'Pass query beside query_embedding, or leave rerank out.';
  end if;
  rerank := query is not null and coalesce(rerank, memory._reranks(policy));

  results := array(
    select row(f.source, x.id, x.thread_id, x.content, f.score, x.metadata, f.created_at,
               x.details || f.explanation, x.valid_from, f.relevance)::memory.search_result
    from memory._query_model(search.user_id, to_embed, search.query_embedding) as m
    cross join lateral memory._query_embedding(search.user_id, to_embed, search.query_embedding, m) as k
    cross join lateral memory._query_target(
      search.user_id, search.agent_id, to_embed, null, search.query_embedding is not null, m, k.embedding,
      k.problem, case when search.query is null then 'vector' else mode end) as t
    cross join lateral memory._ranked_once(
      p_user_id => search.user_id, p_agent_id => search.agent_id, p_query => search.query, p_model => m.name,
      p_target => t.embedding, p_mode => t.mode,
      p_settings => policy -> 'search', p_sources => search.sources,
      p_row_limit => case when rerank then greatest(top_k, 50) else top_k end, p_filters => filters,
      p_min_score => case when not rerank then search.min_score end, p_explain => search.explain,
      p_spaces => shared, p_min_relevance => search.min_relevance) as f
    join lateral memory._search_row(
      coalesce(f.space, search.user_id), f.source, f.id, f.thread_id, f.number, filters, search.query) as x
      on x.content is not null
    order by f.rank);

  if rerank then
    return query
    select r.*
    from memory._rerank(
      search.user_id, search.agent_id, memory._rerank_model(policy), search.query, explain, results) as r
    where search.min_score is null or r.score >= memory._real(search.min_score) -- a rerank model has its own scores
    limit top_k;
  else
    return query select r.* from unnest(results) as r;
  end if;
end;
$$;
comment on function memory.search(
  text, text, vector, text, text[], text, text, text, text[], text[], text[], text[], jsonb, double precision,
  double precision, timestamptz, timestamptz, timestamptz, boolean, boolean, boolean, int, text[], text[], text[], real
) is
'Finds the texts of one user that match a query, best first; every filter is applied before the ranking. mode is '
'hybrid (the default), vector or keyword; sources are memory, message, document and summary unless given, artifact is '
'another. A memory and the message that it was drawn from are one result. spaces, or else the policy''s '
'context.spaces, names spaces that are granted to the user: their memories and documents are ranked among the user''s '
'own, and details.space says which space a result is of (null: none). An empty list searches no space; error P0002 for '
'a space that is not granted. docs/search.md explains filters, scores and ids.';

-- Raises an error if an argument of a search breaks a rule.
create or replace function memory._check_search(
  p_user_id text, p_mode text, p_sources text[], p_agent_id text, p_filters memory._search_filters,
  p_min_score double precision, p_top_k int, p_min_relevance real
)
returns void
language plpgsql stable parallel safe
as $$
declare
  known constant text[] := array[{{sources}}];
begin
  perform memory._check_id('user_id', p_user_id),
    memory._check_id('agent_id', coalesce(p_agent_id, 'any')),
    memory._check_id('thread_id', coalesce(p_filters.thread_id, 'any')),
    memory._check_id('exclude_thread_id', coalesce(p_filters.exclude_thread_id, 'none'));
  perform memory._check_list('memory_types', p_filters.memory_types),
    memory._check_memory_types('memory_types', p_filters.memory_types),
    memory._check_list('tags_all', p_filters.tags_all),
    memory._check_list('tags_any', p_filters.tags_any),
    memory._check_list('exclude_tags', p_filters.exclude_tags),
    memory._check_list('doc_types', p_filters.doc_types),
    memory._check_list('namespaces', p_filters.namespaces);
  if p_min_score not between -1 and 1 then -- the range of a cosine
    perform memory._refuse('min_score', format('%s is not between -1 and 1', p_min_score),
      'Leave it out for no limit.');
  end if;
  if p_min_relevance not between 0 and 1 then
    perform memory._refuse('min_relevance', format('%s is not between 0 and 1', p_min_relevance),
      'Leave it out for no limit.');
  end if;
  if p_filters.min_confidence not between 0 and 1 then
    perform memory._refuse('min_confidence', format('%s is not between 0 and 1', p_filters.min_confidence),
      'Leave it out for no limit.');
  end if;
  if (p_mode in ('hybrid', 'vector', 'keyword')) is not true then
    perform memory._refuse('mode', coalesce('unknown mode "' || left(p_mode, 50) || '"', 'must not be null'),
      'Use hybrid, vector or keyword.');
  end if;
  if (p_sources <@ known) is not true or cardinality(p_sources) = 0 then
    perform memory._refuse('sources',
      case when p_sources is null then 'must not be null'
           when cardinality(p_sources) = 0 then 'must not be empty'
           else (select 'unknown source ' || coalesce('"' || left(s, 50) || '"', 'null')
                 from unnest(p_sources) as s where (s = any (known)) is not true limit 1) end,
      'Known sources: ' || array_to_string(known, ', '));
  end if;
  perform memory._check_list('sources', p_sources);
  if (p_top_k between 1 and 1000) is not true then
    perform memory._refuse('top_k', format('%s is not between 1 and 1000', coalesce(p_top_k::text, 'null')),
      '10 is the default.');
  end if;
  perform memory._check_filter(p_filters.filter);
end;
$$;
