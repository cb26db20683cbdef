-- The rows that the functions of documents return.
create type memory.document as (
  document_id uuid, title text, namespace text, doc_type text, content text, metadata jsonb, thread_id text,
  created_at timestamptz, updated_at timestamptz, total_count bigint, trust real, quarantined_at timestamptz,
  quarantine_reason text
);
comment on type memory.document is 'A document, as memory.list_documents() returns it.';
