create or replace function memory.list_documents(
  user_id text, namespace text default null, doc_type text default null, row_limit int default 50,
  row_offset int default 0, include_quarantined boolean default false, filter jsonb default null
)
returns setof memory.document
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_reader(user_id);
  perform memory._check_page(row_limit, row_offset);
  perform memory._check_filter(filter);
  return query
  select d.document_id, d.title, d.namespace, d.doc_type, d.content, d.metadata, d.thread_id, d.created_at,
    d.updated_at, count(*) over (), d.trust::real, d.quarantined_at, d.quarantine_reason
  from memory._listed_documents(
    list_documents.user_id, list_documents.namespace, list_documents.doc_type, filter, include_quarantined) as d
  order by d.created_at desc, d.document_id desc
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_documents(text, text, text, int, int, boolean, jsonb) is
'Documents of a user''s knowledge base, newest first: those of add_document, archived conversations (doc_type '
'conversation) and articles made of old memories (doc_type article). doc_type also takes the plurals documents and '
'conversations; filter is a part of the metadata. include_quarantined adds documents in quarantine, which '
'quarantined_at shows. total_count is the number of matches on all pages.';

-- The doc_types that a filter lets pass. "conversations" includes documents stored as "conversation", and "documents"
-- those stored as "document".
create or replace function memory._doc_types(p_doc_types text[])
returns text[]
language sql immutable parallel safe
begin atomic
  select p_doc_types
    || case when 'conversations' = any (p_doc_types) then array['conversation'] end
    || case when 'documents' = any (p_doc_types) then array['document'] end;
end;

-- The documents of a user that pass these filters.
create or replace function memory._listed_documents(
  p_user_id text, p_namespace text, p_doc_type text, p_filter jsonb, p_include_quarantined boolean
)
returns setof memory.documents
language sql stable parallel safe
begin atomic
  select d.* from memory.documents as d
  where d.user_id = p_user_id
    and (p_include_quarantined or d.quarantined_at is null)
    and (p_namespace is null or d.namespace = p_namespace)
    and (p_doc_type is null or d.doc_type = any (memory._doc_types(array[p_doc_type])))
    and (p_filter is null or d.metadata @> p_filter);
end;
