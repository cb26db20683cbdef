-- How search ranks. Every figure was measured on conversations with marked evidence; bench/results/quality.md has them.
--
-- Keywords: any word may match. A text's weight is the sum over its matched words of idf (as in BM25) times ts_rank with
-- the length in its logarithm, which saturates as BM25 does and ranks as well, at a tenth of the time of counting words.
-- Document frequencies are counted among what this search may see, so nobody else's texts shine through and there are no
-- statistics to keep.
-- Meaning: the exact cosine similarity with every candidate. No index is needed or used.
-- Both: each arm is brought to 0..1 within the query and they count half each (score), or reciprocal ranks are added (rrf).
-- A message is often the answer to the one before it, so a message gains from its better neighbour in the thread.
create or replace function memory._ranked(
  user_id text, query text, model text, target halfvec, mode text, settings jsonb, sources text[], agent_id text, thread_id text,
  exclude_thread_id text, memory_types text[], tags_all text[], tags_any text[], exclude_tags text[], filter jsonb,
  min_confidence double precision, created_after timestamptz, created_before timestamptz, as_of timestamptz,
  include_superseded boolean, explain boolean, doc_types text[], namespaces text[], min_score double precision, row_limit int
)
returns setof memory.search_result
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
set jit = off
-- Hash joins it shall be: without statistics the planner takes a thousand candidates for one and would compare each with
-- each, with them it sorts ids, which takes twenty times as long.
set enable_nestloop = off
set enable_mergejoin = off
set plan_cache_mode = force_generic_plan -- planning takes three times as long as running
as $$
declare
  fusion constant text := case when mode <> 'hybrid' or query is null then mode when settings ->> 'fusion' = 'rrf' then 'rrf' else 'score' end;
  rrf_k constant int := (settings ->> 'rrf_k')::int;
  words text[];
  words_as_queries tsquery[];
  any_word tsquery;
  only_memories constant boolean := coalesce(memory_types, tags_all, tags_any) is not null or min_confidence is not null;
  only_documents constant boolean := coalesce(doc_types, namespaces) is not null;
begin
  if mode <> 'vector' then
    -- A query may be a whole message. Two hundred words say what it is about.
    select array_agg(w.lexeme), array_agg(quote_literal(w.lexeme)::tsquery), string_agg(quote_literal(w.lexeme), ' | ')::tsquery
    into words, words_as_queries, any_word
    from (select v.lexeme from unnest(memory._text_vector((settings ->> 'language')::regconfig, left(query, 8000))) as v
          order by v.positions[1], v.lexeme limit 200) as w;
  end if;

  return query
  with similarities as materialized (
    select e.source, e.id collate "C" as id, memory._cosine_similarity(e.embedding, target) as similarity
    from memory.embeddings as e
    where mode <> 'keyword' and e.user_id = _ranked.user_id and e.model = _ranked.model and e.source = any (sources)
  ), candidates as materialized (
    select row_number() over () as place, d.source, d.id collate "C" as id, d.thread_id collate "C" as thread_id, d.number, d.created_at, s.similarity,
      case when d.vector @@ any_word then d.vector end as vector -- of those that match; the others need not be carried along
    from (
      select 'memory' as source, m.memory_id::text as id, m.thread_id, null::bigint as number, m.created_at, m.search_vector as vector
      from memory._visible_memories(_ranked.user_id, _ranked.as_of, _ranked.include_superseded) as m
      where 'memory' = any (sources) and not only_documents
        and (_ranked.agent_id is null or m.agent_id = _ranked.agent_id)
        and (_ranked.memory_types is null or m.memory_type = any (_ranked.memory_types))
        and (_ranked.tags_all is null or m.tags @> _ranked.tags_all)
        and (_ranked.tags_any is null or m.tags && _ranked.tags_any)
        and (_ranked.exclude_tags is null or not m.tags && _ranked.exclude_tags)
        and (_ranked.min_confidence is null or m.confidence >= _ranked.min_confidence::real)
        and (_ranked.filter is null or m.metadata @> _ranked.filter)
      union all
      -- The current summaries of each thread and of the user.
      select 'summary', s.summary_id::text, nullif(s.thread_id, ''), null, s.created_at, s.search_vector
      from (select distinct on (c.thread_id, c.kind) c.* from memory.summaries as c
            where c.user_id = _ranked.user_id and c.status = 'completed' and c.created_at <= coalesce(_ranked.as_of, 'infinity')
            order by c.thread_id, c.kind, c.end_seq desc) as s
      where 'summary' = any (sources) and not only_memories and not only_documents
        and (_ranked.agent_id is null or s.agent_ids <@ array[_ranked.agent_id])
        and (_ranked.filter is null or s.metadata @> _ranked.filter)
      union all
      select 'document', d.document_id || '/' || c.number, d.thread_id, c.number, d.created_at, c.search_vector
      from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
      where 'document' = any (sources) and not only_memories and d.user_id = _ranked.user_id and c.user_id = _ranked.user_id
        and d.created_at <= coalesce(_ranked.as_of, 'infinity')
        and (_ranked.agent_id is null or d.agent_ids <@ array[_ranked.agent_id])
        and (_ranked.doc_types is null or d.doc_type = any (_ranked.doc_types))
        and (_ranked.namespaces is null or d.namespace = any (_ranked.namespaces))
        and (_ranked.filter is null or d.metadata @> _ranked.filter)
      union all
      select 'message', m.thread_id || '/' || m.seq, m.thread_id, m.seq, m.created_at, m.search_vector
      from memory.messages as m
      where 'message' = any (sources) and not only_memories and not only_documents and m.user_id = _ranked.user_id
        and m.is_active and m.expires_at > statement_timestamp()
        and (_ranked.agent_id is null or m.agent_id = _ranked.agent_id)
        and m.created_at <= coalesce(_ranked.as_of, 'infinity')
        and (_ranked.filter is null or m.metadata @> _ranked.filter)
    ) as d
    left join similarities as s on s.source = d.source and s.id = d.id collate "C"
    where (_ranked.thread_id is null or d.thread_id = _ranked.thread_id)
      and (_ranked.exclude_thread_id is null or d.thread_id is distinct from _ranked.exclude_thread_id)
      and (_ranked.created_after is null or d.created_at > _ranked.created_after)
      and (_ranked.created_before is null or d.created_at < _ranked.created_before)
  ), matches as materialized (
    select c.place, w.word, ts_rank('{1,1,1,1}', c.vector, w.as_query, 1)::double precision as weight
    from candidates as c cross join unnest(words, words_as_queries) as w (word, as_query)
    where c.vector @@ w.as_query
  ), corpus as materialized (
    select count(*) as texts, max(c.similarity) as highest, min(c.similarity) as lowest from candidates as c
  ), weights as materialized (
    -- A word that no text has still counts: a text with half of the query's words is no perfect match.
    select w.word, ln(1 + (c.texts - coalesce(f.texts, 0) + 0.5) / (coalesce(f.texts, 0) + 0.5))::double precision as idf
    from unnest(words) as w (word)
    left join (select m.word, count(*) as texts from matches as m group by m.word) as f on f.word = w.word
    cross join corpus as c
  ), keywords as materialized (
    select m.place, sum(w.idf * m.weight) as score, sum(w.idf) / (select sum(w.idf) from weights as w) as share
    from matches as m join weights as w on w.word = m.word group by m.place
  ), best as materialized (
    -- In a handful of texts a hair's breadth of similarity is no verdict, so the scale spans 0.3 at least. And the best of
    -- bad matches is none: under two thirds of the query's words, by weight, all keyword scores are lowered.
    select v.highest, greatest(v.highest - v.lowest, 0.3) as spread, k.score as keyword, least(1, 1.5 * k.share) as trust
    from corpus as v
    left join (select k.score, k.share from keywords as k order by k.score desc limit 1) as k on true
  ), ranks as (
    select c.place, case when c.similarity is not null then rank() over (order by c.similarity desc nulls last) end as vector_rank,
      case when k.score is not null then rank() over (order by k.score desc nulls last) end as keyword_rank
    from candidates as c left join keywords as k on k.place = c.place
    where explain or fusion = 'rrf'
  ), contenders as (
    select c.*, k.score as keyword from candidates as c join keywords as k on k.place = c.place
    union all
    -- Without a matching word a memory is ranked by its similarity alone, so those after the first row_limit cannot come up.
    -- Messages have neighbours and documents pieces that may lift them.
    (select c.*, null from candidates as c
     where c.similarity is not null and not exists (select from keywords as k where k.place = c.place)
     order by c.similarity desc, c.created_at desc, c.id limit case when sources && '{message,document}' then null else row_limit end)
  ), scored as materialized (
    select c.source, c.id, c.thread_id, c.number, c.created_at, c.place, c.similarity, c.keyword, r.vector_rank, r.keyword_rank,
      c.keyword / b.keyword * b.trust as keyword_share,
      case fusion
        when 'vector' then c.similarity
        when 'keyword' then c.keyword / b.keyword * b.trust
        when 'rrf' then (coalesce(1.0 / (rrf_k + r.vector_rank), 0) + coalesce(1.0 / (rrf_k + r.keyword_rank), 0)) * (rrf_k + 1) / 2
        else (coalesce(greatest(1 - (b.highest - c.similarity) / b.spread, 0), 0) + coalesce(c.keyword / b.keyword * b.trust, 0))
             / case when b.keyword is null or b.highest is null then 1 else 2 end
      end::double precision as score
    from contenders as c left join ranks as r on r.place = c.place cross join best as b
  ), neighboured as (
    select s.*, 0::double precision as neighbour, 1::bigint as piece from scored as s
    where sources && '{memory,summary}' and s.source in ('memory', 'summary')
    union all
    select s.*,
      case when s.source = 'message' and fusion in ('score', 'keyword') then greatest(
        case when lag(s.number) over in_order = s.number - 1 then lag(s.score) over in_order end,
        case when lead(s.number) over in_order = s.number + 1 then lead(s.score) over in_order end, 0) else 0 end,
      case when s.source = 'document' then row_number() over (partition by s.source, split_part(s.id, '/', 1) order by s.score desc, s.number) else 1 end
    from scored as s
    where sources && '{message,document}' and s.source in ('message', 'document')
    window in_order as (partition by s.source, s.thread_id order by s.number)
  ), top as (
    select n.*, least(n.score + 0.4 * n.neighbour * (1 - n.score), 1) as final
    from neighboured as n
    where n.piece = 1 and (_ranked.min_score is null or least(n.score + 0.4 * n.neighbour * (1 - n.score), 1)::real >= _ranked.min_score::real)
    order by final desc, n.created_at desc, n.id limit row_limit
  )
  select t.source, case t.source when 'document' then split_part(t.id, '/', 1) else t.id end, t.thread_id, x.content, t.final::real, x.metadata, t.created_at,
    case when not explain then x.details else x.details || jsonb_strip_nulls(jsonb_build_object(
      'vector', case when t.similarity is not null then jsonb_build_object('rank', t.vector_rank, 'score', t.similarity::real, 'model', _ranked.model) end,
      'keyword', case when t.keyword is not null then jsonb_build_object('rank', t.keyword_rank, 'score', t.keyword_share::real, 'terms', (
        select jsonb_object_agg(m.word, round(w.idf::numeric, 3)) from matches as m join weights as w on w.word = m.word where m.place = t.place)) end,
      'fused', jsonb_build_object('by', fusion, 'score', t.score::real, 'neighbour', case when t.neighbour > 0 then t.neighbour::real end))) end
  from top as t
  -- Its arguments decide which collation it looks them up by: that of its indexes.
  cross join lateral memory._search_row(_ranked.user_id, t.source, t.id collate "default", t.thread_id collate "default", t.number) as x
  order by t.final desc, t.created_at desc, t.id;
end;
$$;

-- What a result shows. Read for the few that are shown, not for all that are ranked.
create or replace function memory._search_row(
  user_id text, source text, id text, thread_id text, number bigint, out content text, out metadata jsonb, out details jsonb
)
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  case source
    when 'memory' then
      select m.content, m.metadata, jsonb_build_object(
        'memory_type', m.memory_type, 'tags', m.tags, 'confidence', m.confidence, 'importance', m.importance, 'agent_id', m.agent_id, 'superseded_by', m.superseded_by)
      into content, metadata, details
      from memory.memories as m where m.user_id = _search_row.user_id and m.memory_id = _search_row.id::uuid;
    when 'summary' then
      select s.summary, s.metadata, jsonb_build_object('kind', s.kind, 'start_seq', s.start_seq, 'end_seq', s.end_seq) into content, metadata, details
      from memory.summaries as s where s.user_id = _search_row.user_id and s.summary_id = _search_row.id::uuid;
    when 'document' then
      select c.content, d.metadata, jsonb_build_object(
        'title', d.title, 'namespace', d.namespace, 'doc_type', d.doc_type, 'chunk', c.number,
        'chunks', (select count(*) from memory.document_chunks as a where a.user_id = d.user_id and a.document_id = d.document_id))
      into content, metadata, details
      from memory.documents as d join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
      where d.user_id = _search_row.user_id and d.document_id = split_part(_search_row.id, '/', 1)::uuid and c.number = _search_row.number::int;
    when 'message' then
      select m.content, m.metadata, jsonb_build_object('seq', m.seq, 'role', m.role, 'agent_id', m.agent_id) into content, metadata, details
      from memory.messages as m where m.user_id = _search_row.user_id and m.thread_id = _search_row.thread_id and m.seq = _search_row.number;
  end case;
end;
$$;
