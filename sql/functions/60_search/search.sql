-- needs pgvector on the search_path

create or replace function memory.search(
  user_id text, query text default null, query_embedding vector default null, mode text default 'hybrid',
  sources text[] default '{memory,summary,document}', agent_id text default null,
  thread_id text default null, exclude_thread_id text default null, memory_types text[] default null,
  tags_all text[] default null, tags_any text[] default null, exclude_tags text[] default null,
  filter jsonb default null, min_score double precision default null,
  min_confidence double precision default null, created_after timestamptz default null, created_before timestamptz default null,
  as_of timestamptz default null, include_superseded boolean default false, rerank boolean default false,
  explain boolean default false, top_k int default 10, doc_types text[] default null, namespaces text[] default null
)
returns setof memory.search_result
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables; the embedding of a query is kept
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_generic_plan
as $$
declare
  to_embed text;
  results memory.search_result[];
begin
  -- One expression for the usual case, because the calls would be a tenth of the time of a search. It refuses nothing:
  -- whatever it does not know to be right, memory._check_search() decides.
  if (length(user_id) between 1 and 255 and mode in ('hybrid', 'vector', 'keyword')
      and sources <@ '{memory,summary,document,message,artifact}' and cardinality(sources) between 1 and 5
        and array_ndims(sources) = 1 and top_k between 1 and 1000
      and num_nonnulls(agent_id, thread_id, exclude_thread_id, memory_types, tags_all, tags_any, exclude_tags, filter,
        min_score, min_confidence,
                       doc_types, namespaces) = 0) is not true then
    perform memory._check_search(user_id, mode, sources, agent_id, thread_id, exclude_thread_id, memory_types,
      tags_all, tags_any, exclude_tags,
                                 filter, min_score, min_confidence, top_k, doc_types, namespaces);
  end if;
  query := memory._query_or_null(query);
  if query is null and (query_embedding is null or mode = 'keyword') then
    perform memory._refuse('query', 'must not be empty',
      case mode when 'keyword' then 'Pass what to look for in words.' else 'Pass what to look for in words, as query_embedding, or both.' end);
  end if;

  if mode = 'keyword' then
    query_embedding := null;
  else
    to_embed := query;
  end if;
  if rerank and query is null then
    raise notice 'degraded: results are not reranked, there is no query in words'
      using hint = 'Pass query beside query_embedding, or leave rerank out.';
  end if;
  rerank := rerank is true and query is not null;
  results := array(
    select row(f.source, case f.source when 'document' then split_part(f.id, '/', 1) else f.id end, x.thread_id, x.content, f.score, x.metadata, f.created_at,
               x.details || coalesce(f.explanation, '{}'))::memory.search_result
    from memory._query_model(search.user_id, to_embed, search.query_embedding) as m
    cross join lateral memory._query_embedding(search.user_id, to_embed, search.query_embedding, m) as k
    cross join lateral memory._query_target(search.user_id, search.agent_id, to_embed, true, m, k.embedding, k.problem,
                                            case when search.query is null then 'vector' else mode end) as t
    cross join lateral memory._ranked(
      p_user_id => search.user_id, p_query => search.query, p_model => m.name, p_target => t.embedding, p_mode => t.mode,
      p_settings => memory._policy_section(search.user_id, search.agent_id, 'search'), p_sources => search.sources,
      p_row_limit => case when rerank then greatest(top_k, 50) else top_k end,
      p_agent_id => search.agent_id, p_thread_id => search.thread_id, p_exclude_thread_id => search.exclude_thread_id,
      p_memory_types => search.memory_types, p_tags_all => search.tags_all, p_tags_any => search.tags_any, p_exclude_tags => search.exclude_tags,
      p_filter => search.filter, p_min_score => case when not rerank then search.min_score end, p_min_confidence => search.min_confidence,
      p_created_after => search.created_after, p_created_before => search.created_before, p_as_of => search.as_of,
      p_include_superseded => search.include_superseded, p_explain => search.explain,
      p_doc_types => search.doc_types, p_namespaces => search.namespaces) as f
    join lateral memory._search_row(search.user_id, f.source, f.id, f.thread_id, f.number, search.as_of, search.include_superseded is true) as x on x.content is not null
    order by f.rank);
  if rerank then
    return query
    select r.* from memory._rerank(search.user_id, search.agent_id, search.query, explain, results) as r
    where search.min_score is null or r.score >= memory._real(search.min_score) -- a reranker gives scores of its own
    limit top_k;
  else
    return query select r.* from unnest(results) as r;
  end if;
end;
$$;
comment on function memory.search(text, text, vector, text, text[], text, text, text, text[], text[], text[], text[], jsonb, double precision, double precision, timestamptz, timestamptz, timestamptz, boolean, boolean, boolean, int, text[], text[]) is
'Finds what a user''s memory holds about a query, best first, within one user only and with every filter applied '
'before the ranking. mode hybrid (the default) ranks by meaning and by keywords, vector by cosine similarity alone, '
'keyword needs no model. score is the cosine similarity, -1 to 1, in vector mode and wherever only an embedding is '
'compared, else 0 to 1, relative to the best match of this query. min_score is the least score that is returned, -1 '
'to 1. A query without query_embedding is embedded in the database where it can be; if not, hybrid searches by '
'keyword and says so. sources: memory, summary, document (its best piece, once per document), message, artifact '
'(found by its content, shown as its placeholder). filter is contained in metadata; memory_types, tags and '
'min_confidence select memories only, doc_types and namespaces documents only; as_of is what held then. For a user '
'with more memories than the policy''s search.approximate_above, memories may be found by the index of '
'memory.vector_index(), where embeddings alone are compared without filters. rerank asks the active rerank model for '
'the final order. explain adds rank, score and matched words of each arm to details. id is that of the memory, '
'summary or document, thread_id/seq of a message, the key of an artifact.';
