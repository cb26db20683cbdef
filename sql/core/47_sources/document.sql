-- place among the sources: 3
-- A source of search: the pieces of documents. id is document_id/number; memory.search() shows the best piece of each
-- document.

-- Each piece has the words of the title too. A long document is embedded once a job has cut it into pieces; then its
-- pieces have a token_count.
create or replace function memory._document_texts(p_user_id text, p_ids text[])
returns setof memory._source_text
language sql stable parallel safe
begin atomic
  select i.id, c.thread_id, c.number::bigint, memory._agent_of_several(c.agent_ids), c.created_at,
    case when c.quarantined_at is null then 'infinity' else '-infinity' end::timestamptz,
    concat_ws(e'\n', c.title, c.content),
    case when c.token_count is not null then left(concat_ws(e'\n', c.title, left(c.content, 24000)), 24000) end
  from unnest(p_ids) as i (id)
  cross join lateral (
    select d.thread_id, d.agent_ids, d.created_at, d.quarantined_at, d.title, c.number, c.content, c.token_count
    from memory.documents as d
    join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
    where d.user_id = p_user_id and d.document_id = split_part(i.id, '/', 1)::uuid
      and c.number = split_part(i.id, '/', 2)::int
    offset 0) as c;
end;

-- The pieces of documents that pass those filters that memory.texts does not know.
create or replace function memory._document_passing(p_user_id text, p_filters memory._search_filters)
returns setof text
language sql stable parallel safe
begin atomic
  select d.document_id || '/' || c.number
  from memory.documents as d
  join memory.document_chunks as c on c.user_id = d.user_id and c.document_id = d.document_id
  where d.user_id = p_user_id and c.user_id = p_user_id and d.quarantined_at is null
    and ((p_filters).doc_types is null or d.doc_type = any (memory._doc_types((p_filters).doc_types)))
    and ((p_filters).namespaces is null or d.namespace = any ((p_filters).namespaces))
    and ((p_filters).filter is null or d.metadata @> (p_filters).filter);
end;

-- The columns of one result, under the id of the document. If no job has cut a long document yet, the result shows the
-- passage that says most about the query, about as long as a piece.
-- valid_from is the time at which an archived conversation began.
create or replace function memory._document_shown(
  p_user_id text, p_id text, p_thread_id text, p_number bigint, p_filters memory._search_filters, p_query text
)
returns table (id text, thread_id text, content text, metadata jsonb, details jsonb, valid_from timestamptz)
language sql stable parallel unsafe
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

-- Stores the texts of added pieces of documents in memory.texts, and deletes the texts of deleted pieces.
create or replace function memory._document_texts_after_change()
returns trigger
language plpgsql volatile parallel unsafe security definer -- whoever may delete need not have rights on memory.texts
set search_path = pg_catalog, pg_temp
as $$
begin
  if ({{are copied}}) is not true then
    perform memory._store_texts(g.user_id, 'document', g.ids)
    from (select c.user_id, array_agg(c.document_id || '/' || c.number) as ids
          from changed_rows as c group by c.user_id order by 1) as g;
  end if;
  return null;
end;
$$;

-- Stores all texts of a document anew in memory.texts when a column of the document changes whose value each of these
-- texts repeats, such as the title (47_sources/triggers.sql has the columns).
create or replace function memory._document_texts_after_update()
returns trigger
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._store_texts(new.user_id, 'document', array(
    select c.document_id || '/' || c.number from memory.document_chunks as c
    where c.user_id = new.user_id and c.document_id = new.document_id));
  return null;
end;
$$;
