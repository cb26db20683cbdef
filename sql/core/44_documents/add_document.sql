create or replace function memory.add_document(
  user_id text, content text, title text default null, namespace text default 'default',
  doc_type text default 'document', metadata jsonb default '{}'
)
returns uuid
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  stored uuid;
begin
  insert into memory.documents as d (user_id, content, title, namespace, doc_type, metadata)
  values (
    add_document.user_id, add_document.content, add_document.title, add_document.namespace, add_document.doc_type,
    coalesce(add_document.metadata, '{}'))
  returning d.document_id into stored;
  return stored;
end;
$$;
comment on function memory.add_document(text, text, text, text, text, jsonb) is
'Stores a document in a user''s knowledge base and returns its id. Keyword search finds the document at once, by the '
'words of its first MiB. A job cuts a long document into overlapping pieces, and search finds each of them.';
