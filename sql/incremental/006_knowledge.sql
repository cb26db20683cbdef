-- The knowledge base, and the embeddings of everything that can be searched.
create table memory.documents (
  user_id text not null,
  document_id uuid not null,
  namespace text not null default 'default',
  doc_type text not null default 'document',
  title text,
  content text not null,
  metadata jsonb not null default '{}',
  source text not null default 'user',
  thread_id text,
  agent_ids text[] not null default '{}',
  search_vector tsvector not null,
  created_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, document_id),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object')
);
create index documents_recent_idx on memory.documents (user_id, created_at, document_id);
create unique index documents_archive_idx on memory.documents (user_id, thread_id) where source = 'archive';
create index documents_thread_idx on memory.documents (user_id, thread_id) where thread_id is not null;
comment on table memory.documents is 'The knowledge base: archived conversations and articles made of old memories.';
comment on column memory.documents.source is 'user: inserted directly. archive: a compressed conversation, one document per thread, closed_archive once the thread was cleared. consolidation: an article made of memories, which metadata.memory_ids names.';
comment on column memory.documents.agent_ids is 'Whose words went in.';

do $embeddings$
begin
  -- Stored plain: an embedding is read as often as its row, and detoasting takes longer than comparing. Eight KB are
  -- the room that a page has, which is 4,000 dimensions.
  execute format($table$
    create table memory.embeddings (
      user_id text not null,
      source text not null,
      id text not null,
      model text not null,
      embedding %I.halfvec not null,
      primary key (user_id, source, id, model)
    )$table$, current_setting('agent_memory.vector_schema'));
end;
$embeddings$;
alter table memory.embeddings alter column embedding set storage plain;
comment on table memory.embeddings is 'One row per searchable text and embedding model, made by jobs of kind embed. Removed when the text changes or goes.';
comment on column memory.embeddings.source is 'memory, summary, document or message.';
comment on column memory.embeddings.id is 'As memory.search() returns it: a uuid, or thread_id/seq for a message.';
