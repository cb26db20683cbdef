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
  created_at timestamptz not null default statement_timestamp(),
  updated_at timestamptz not null default statement_timestamp(),
  primary key (user_id, document_id),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object')
);
create index documents_recent_idx on memory.documents (user_id, created_at, document_id);
create unique index documents_archive_idx on memory.documents (user_id, thread_id) where source = 'archive';
create index documents_thread_idx on memory.documents (user_id, thread_id) where thread_id is not null;
comment on table memory.documents is 'The knowledge base: documents of the application, archived conversations, and articles made of old memories.';
comment on column memory.documents.source is 'user: added by the application. archive: a compressed conversation, one document per thread, closed_archive once the thread was cleared. consolidation: an article made of memories, which metadata.memory_ids names.';
comment on column memory.documents.agent_ids is 'Whose words went in.';

create table memory.document_chunks (
  user_id text not null,
  document_id uuid not null,
  number int not null,
  content text not null,
  search_vector tsvector not null,
  token_count int,
  primary key (user_id, document_id, number),
  foreign key (user_id, document_id) references memory.documents on delete cascade
);
create index document_chunks_uncut_idx on memory.document_chunks (user_id, document_id) where token_count is null;
comment on table memory.document_chunks is 'The pieces that documents are found by. A long document is one piece until a job has cut it.';
comment on column memory.document_chunks.token_count is 'From the job that cut the document, or an upper bound for a short one that needs no cutting; null while a long one waits for it.';

do $embeddings$
begin
  -- Stored plain: an embedding is read as often as its row, and detoasting takes longer than comparing. Eight KB are
  -- the room that a page has, which is 4,000 dimensions.
  execute format($table$
    create table memory.embeddings (
      user_id text not null,
      model text not null,
      source text not null,
      id text not null,
      agent_id text,
      created_at timestamptz,
      valid_until timestamptz,
      embedding %1$I.halfvec not null,
      primary key (user_id, model, source, id)
    )$table$, current_setting('agent_memory.vector_schema'));
end;
$embeddings$;
do $query_embeddings$
begin
  execute format($table$
    create table memory.query_embeddings (
      user_id text not null,
      model text not null,
      query_hash text not null,
      embedding %I.halfvec not null,
      created_at timestamptz not null default statement_timestamp(),
      primary key (user_id, model, query_hash)
    )$table$, current_setting('agent_memory.vector_schema'));
end;
$query_embeddings$;
-- The short columns too: beside an embedding that cannot be moved out, PostgreSQL moves them out, and a search that reads a
-- thousand ids takes four times as long.
alter table memory.embeddings
  alter column user_id set storage main, alter column model set storage main, alter column source set storage main,
  alter column id set storage main, alter column agent_id set storage main,
  alter column embedding set storage plain;
alter table memory.query_embeddings
  alter column user_id set storage main, alter column model set storage main, alter column query_hash set storage main,
  alter column embedding set storage plain;
create index query_embeddings_created_at_idx on memory.query_embeddings (created_at);
comment on table memory.query_embeddings is 'Embeddings of queries, so that the same question is not paid for twice. memory.sweep() removes those older than 30 days.';
comment on column memory.query_embeddings.query_hash is 'SHA-256 of the query; its words are not kept.';
comment on table memory.embeddings is 'One row per searchable text and embedding model, made by jobs of kind embed and backfill. Removed when the text changes or goes.';
comment on column memory.embeddings.agent_id is 'That of the memory, as are created_at and valid_until; null for other sources.';
comment on column memory.embeddings.created_at is 'When the memory was stored, not the embedding.';
comment on column memory.embeddings.valid_until is 'Until when the memory may be found without filters: the earlier of its expires_at and valid_to, infinity without either, -infinity once it is deleted or superseded.';
comment on column memory.embeddings.source is 'memory, summary, document, message or artifact.';
comment on column memory.embeddings.id is 'A uuid, document_id/number for a piece of a document, thread_id/seq for a message, the key of an artifact.';
