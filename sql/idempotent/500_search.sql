-- BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework", 2009; k1 = 1.2, b = 0.75) over the documents
-- given, exact: document frequencies and lengths are counted within the documents searched, so no statistics need to be
-- kept and none of another user's can shine through. Any word may match. Scores are divided by their upper bound, which
-- makes them comparable between queries: 0..1.
create or replace function memory._keyword_scores(language regconfig, query text, vectors tsvector[])
returns table (document int, score real, terms jsonb)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  -- A query may be a whole message. Beyond a few pages more words change no ranking, but exhaust the stack as a tsquery.
  lexemes text[] := tsvector_to_array(to_tsvector(language, left(query, 8000)));
  any_word tsquery;
begin
  if cardinality(lexemes) = 0 then
    return;
  end if;
  select string_agg(quote_literal(l), ' | ')::tsquery into any_word from unnest(lexemes) as l;
  return query
  with hits as (
    select v.document::int as document, w.lexeme, cardinality(w.positions) as frequency, length(v.vector) as words
    from unnest(vectors) with ordinality as v (vector, document), unnest(v.vector) as w (lexeme, positions, weights)
    where v.vector @@ any_word and w.lexeme = any (lexemes)
  ), corpus as (
    select count(*)::real as documents, avg(length(v.vector))::real as words from unnest(vectors) as v (vector)
  ), weights as (
    select h.lexeme, ln(1 + (c.documents - count(*) + 0.5) / (count(*) + 0.5)) as idf
    from hits as h, corpus as c group by h.lexeme, c.documents
  ), bound as (
    -- A word that no document has still counts: a document that matches half of the query is no perfect match.
    select sum(coalesce(w.idf, ln(1 + (c.documents + 0.5) / 0.5))) as idf
    from unnest(lexemes) as l (lexeme) left join weights as w using (lexeme), corpus as c
  )
  select h.document, (sum(w.idf * h.frequency / (h.frequency + 1.2 * (0.25 + 0.75 * h.words / c.words))) / b.idf)::real,
    jsonb_object_agg(h.lexeme, round(w.idf::numeric, 3))
  from hits as h join weights as w using (lexeme), corpus as c, bound as b
  group by h.document, b.idf;
end;
$$;

create or replace function memory.search(
  user_id text, query text default null, query_embedding vector default null, mode text default 'hybrid',
  sources text[] default '{memory,summary,document}', agent_id text default null,
  thread_id text default null, exclude_thread_id text default null, memory_types text[] default null,
  tags_all text[] default null, tags_any text[] default null, exclude_tags text[] default null,
  filter jsonb default null, min_score double precision default null,
  min_confidence double precision default null, created_after timestamptz default null, created_before timestamptz default null,
  as_of timestamptz default null, include_superseded boolean default false, rerank boolean default false,
  explain boolean default false, top_k int default 10
)
returns setof memory.search_result
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  known constant text[] := array['memory', 'summary', 'document', 'message', 'artifact'];
  language regconfig;
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  perform memory._check_id('thread_id', coalesce(thread_id, 'any'));
  perform memory._check_id('exclude_thread_id', coalesce(exclude_thread_id, 'none'));
  perform memory._check_memory_types('memory_types', memory_types);
  perform memory._check_share('min_score', min_score);
  perform memory._check_share('min_confidence', min_confidence);
  if (mode in ('hybrid', 'vector', 'keyword')) is not true then
    perform memory._refuse('mode', format('unknown mode "%s"', mode), 'Use hybrid, vector or keyword.');
  end if;
  if (sources <@ known) is not true or cardinality(sources) = 0 then
    perform memory._refuse('sources', format('%s is not a choice of sources', coalesce(sources::text, 'null')), 'Known sources: ' || array_to_string(known, ', '));
  end if;
  if (top_k between 1 and 1000) is not true then
    perform memory._refuse('top_k', format('%s is not between 1 and 1000', coalesce(top_k::text, 'null')), '10 is the default.');
  end if;
  if jsonb_typeof(filter) <> 'object' then
    perform memory._refuse('filter', format('is a JSON %s', jsonb_typeof(filter)), 'Pass the part of metadata that must be there, such as {"channel": "mail"}.');
  end if;
  if mode = 'vector' then
    perform memory._refuse('mode', 'vector search is not part of this version', 'Use keyword, or hybrid which falls back to keyword.');
  end if;
  if (query ~ e'\\S') is not true then
    perform memory._refuse('query', case when query is null then 'must not be null: this version searches by keyword' else 'must not be empty' end,
      'Pass what to look for in words.');
  end if;
  if mode = 'hybrid' then
    raise notice 'degraded: searching by keyword only, vector search is not part of this version';
  end if;
  if rerank then
    raise notice 'degraded: reranking is not part of this version, results keep their order';
  end if;

  language := (memory._policy(search.user_id, search.agent_id) #>> '{search,language}')::regconfig;
  return query
  with documents as materialized (
    select row_number() over () as document, d.*
    from (
      select 'memory' as source, m.memory_id::text as id, m.thread_id, m.content, m.metadata, m.created_at, m.search_vector as vector,
        jsonb_build_object('memory_type', m.memory_type, 'tags', m.tags, 'confidence', m.confidence, 'importance', m.importance,
                           'agent_id', m.agent_id, 'superseded_by', m.superseded_by) as details
      from memory._visible_memories(search.user_id, search.as_of, search.include_superseded) as m
      where 'memory' = any (sources)
        and (search.agent_id is null or m.agent_id = search.agent_id)
        and (search.memory_types is null or m.memory_type = any (search.memory_types))
        and (search.tags_all is null or m.tags @> search.tags_all)
        and (search.tags_any is null or m.tags && search.tags_any)
        and (search.exclude_tags is null or not m.tags && search.exclude_tags)
        and (search.min_confidence is null or m.confidence >= search.min_confidence::real)
      union all
      -- The current summaries of each thread and of the user. What only memories have (type, tags, confidence) excludes the other sources.
      select 'summary', s.summary_id::text, nullif(s.thread_id, ''), s.summary, s.metadata, s.created_at, memory._text_vector(language, s.summary),
        jsonb_build_object('kind', s.kind, 'start_seq', s.start_seq, 'end_seq', s.end_seq)
      from (select distinct on (c.thread_id, c.kind) c.* from memory.summaries as c
            where c.user_id = search.user_id and c.status = 'completed' and c.created_at <= coalesce(search.as_of, 'infinity')
            order by c.thread_id, c.kind, c.end_seq desc) as s
      where 'summary' = any (sources) and (search.agent_id is null or s.agent_ids <@ array[search.agent_id])
        and coalesce(search.memory_types, search.tags_all, search.tags_any) is null and search.min_confidence is null
      union all
      select 'document', d.document_id::text, d.thread_id, d.content, d.metadata, d.created_at, d.search_vector,
        jsonb_build_object('title', d.title, 'namespace', d.namespace, 'doc_type', d.doc_type)
      from memory.documents as d
      where 'document' = any (sources) and d.user_id = search.user_id and d.created_at <= coalesce(search.as_of, 'infinity')
        and (search.agent_id is null or d.agent_ids <@ array[search.agent_id])
        and coalesce(search.memory_types, search.tags_all, search.tags_any) is null and search.min_confidence is null
      union all
      select 'message', m.thread_id || '/' || m.seq, m.thread_id, m.content, m.metadata, m.created_at, memory._text_vector(language, m.content),
        jsonb_build_object('seq', m.seq, 'role', m.role, 'agent_id', m.agent_id)
      from memory.messages as m
      where 'message' = any (sources) and m.user_id = search.user_id and m.is_active and m.expires_at > statement_timestamp()
        and (search.agent_id is null or m.agent_id = search.agent_id)
        and coalesce(search.memory_types, search.tags_all, search.tags_any) is null and search.min_confidence is null
        and m.created_at <= coalesce(search.as_of, 'infinity')
    ) as d
    where (search.thread_id is null or d.thread_id = search.thread_id)
      and (search.exclude_thread_id is null or d.thread_id is distinct from search.exclude_thread_id)
      and (search.filter is null or d.metadata @> search.filter)
      and (search.created_after is null or d.created_at > search.created_after)
      and (search.created_before is null or d.created_at < search.created_before)
  )
  select d.source, d.id, d.thread_id, d.content, k.score, d.metadata, d.created_at,
    case when explain then d.details || jsonb_build_object('keyword', jsonb_build_object(
      'rank', row_number() over (order by k.score desc, d.created_at desc, d.id), 'score', k.score, 'terms', k.terms)) else d.details end
  from memory._keyword_scores(language, search.query, (select array_agg(d.vector order by d.document) from documents as d)) as k
  join documents as d on d.document = k.document
  where search.min_score is null or k.score >= search.min_score::real
  order by k.score desc, d.created_at desc, d.id
  limit top_k;
end;
$$;
comment on function memory.search(text, text, vector, text, text[], text, text, text, text[], text[], text[], text[], jsonb, double precision, double precision, timestamptz, timestamptz, timestamptz, boolean, boolean, boolean, int) is
'Finds what a user''s memory holds about a query, best first, within one user only and with every filter applied before the ranking. score is 0..1; explain => true adds rank, score and matched words to details. sources: memory, summary, document, message (artifact holds nothing yet). filter is contained in metadata; memory_types, tags and min_confidence select memories only; as_of is what held then. id is that of the memory or summary, or thread_id/seq. This version searches by keyword: hybrid says so in a NOTICE, vector is refused.';
