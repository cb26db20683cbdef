-- place among the sources: 3
-- A source of search: the pieces of documents. id is document_id/number; memory.search() shows the best piece of each
-- document.

create or replace function memory._document_owners()
returns setof text
language sql stable parallel safe
begin atomic
  select d.user_id from memory.documents as d;
end;

-- A long document is embedded once a job has cut it into pieces; then its pieces have a token_count.
create or replace function memory._document_embeddable(p_user_id text, p_scope text)
returns setof text
language sql stable parallel safe
begin atomic
  select c.document_id || '/' || c.number
  from memory.document_chunks as c
  join memory.documents as d on d.user_id = c.user_id and d.document_id = c.document_id
  where coalesce(p_scope, '') = '' and d.user_id = p_user_id and c.user_id = p_user_id and c.token_count is not null
    and d.quarantined_at is null;
end;

-- The text of a piece begins with the title of its document.
create or replace function memory._document_texts(p_user_id text, p_sources text[], p_ids text[])
returns table (id text, text text)
language sql stable parallel safe
begin atomic
  select k.id, t.text
  from unnest(p_sources, p_ids) as k (source, id)
  cross join lateral (
    select left(concat_ws(e'\n', d.title, left(c.content, 24000)), 24000) as text
    from memory.documents as d
    join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
    where d.user_id = p_user_id and d.document_id = split_part(k.id, '/', 1)::uuid and d.quarantined_at is null
      and c.number = split_part(k.id, '/', 2)::int and c.token_count is not null offset 0) as t
  where k.source = 'document';
end;

create or replace function memory._document_lock(p_user_id text, p_ids text[])
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform from memory.documents as d
  where d.user_id = p_user_id and d.document_id in (select split_part(i, '/', 1)::uuid from unnest(p_ids) as i)
  order by d.document_id for share nowait;
end;
$$;

create or replace function memory._document_searchable(
  p_user_id text, p_sources text[], p_agent_id text, p_filters memory._search_filters, p_unfiltered boolean,
  p_compares_words boolean
)
returns table (
  source text, id text, thread_id text, number bigint, created_at timestamptz, vector tsvector, content text,
  metadata jsonb
)
language sql stable parallel safe
begin atomic
  select 'document', d.document_id || '/' || c.number, d.thread_id, c.number::bigint, d.created_at, c.search_vector,
    null::text, null::jsonb
  from memory.documents as d
  join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
  where 'document' = any (p_sources)
    and d.user_id = p_user_id and c.user_id = p_user_id
    and d.quarantined_at is null
    and d.created_at <= coalesce((p_filters).as_of, 'infinity')
    and (p_agent_id is null or d.agent_ids <@ array[p_agent_id])
    and ((p_filters).doc_types is null or d.doc_type = any (memory._doc_types((p_filters).doc_types)))
    and ((p_filters).namespaces is null or d.namespace = any ((p_filters).namespaces))
    and ((p_filters).filter is null or d.metadata @> (p_filters).filter);
end;

-- The columns of one result, under the id of the document. If no job has cut a long document yet, the result shows the
-- passage that says most about the query, about as long as a piece. Version 0.1 stored such a document as one piece of
-- up to 10 MB. The function reads only the beginning of such a piece, because 9.6 MB would take nine minutes.
-- valid_from is the time at which an archived conversation began.
create or replace function memory._document_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel safe
begin atomic
  select d.document_id::text, d.thread_id,
    case when c.token_count is null
      then memory._passage((y.policy #>> '{search,language}')::regconfig, left(c.content, 65536), p_query,
                           (y.policy #>> '{knowledge_base,chunk_size}')::int)
      else c.content end,
    d.metadata, jsonb_build_object(
      'title', d.title, 'namespace', d.namespace, 'doc_type', d.doc_type, 'trust', d.trust, 'chunk', c.number,
      'chunks', (select count(*) from memory.document_chunks as a
                 where a.user_id = d.user_id and a.document_id = d.document_id)),
    memory._time_or_null(d.metadata #>> '{date_range,start}')
  from memory.documents as d
  join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
  cross join lateral memory._policy(p_user_id, memory._document_agent(d.agent_ids)) as y (policy)
  where d.user_id = p_user_id and d.document_id = split_part(p_id, '/', 1)::uuid and c.number = p_number::int
    and d.quarantined_at is null
    -- Rules have judged the beginning of an uncut document; a later piece of it that looks like an attack is held back.
    and (c.token_count is not null or c.number <= 1 or d.released_at is not null
      or not (y.policy #>> '{trust,rules}')::boolean or memory._verdict(left(c.content, 65536), d.trust) is null);
end;
