-- The knowledge base: documents and their pieces.
-- A row of memory.documents may name one of memory.threads (user_id, thread_id).
create table memory.documents (
  user_id text not null, -- user
  document_id uuid not null, -- id
  namespace text not null default 'default', -- name
  doc_type text not null default 'document', -- name
  title text, -- kept
  content text not null, -- kept
  metadata jsonb not null default '{}', -- kept
  source text not null default 'user', -- name
  thread_id text, -- thread or all
  agent_ids text[] not null default '{}', -- agents
  created_at timestamptz not null default statement_timestamp(), -- time
  updated_at timestamptz not null default statement_timestamp(), -- time
  trust real not null default 1.0, -- number
  quarantined_at timestamptz, -- time
  quarantine_reason text, -- kept
  quarantined_with text, -- origin
  released_at timestamptz, -- time
  primary key (user_id, document_id),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object'),
  constraint trust_is_share check (trust between 0 and 1)
);
create unique index documents_archive_idx on memory.documents (user_id, thread_id) where source = 'archive';
create unique index documents_file_idx on memory.documents (user_id, title) where namespace = '/memories';
create index documents_recent_idx on memory.documents (user_id, created_at, document_id);
create index documents_thread_idx on memory.documents (user_id, thread_id) where thread_id is not null;
comment on table memory.documents is
'The knowledge base: documents of the application, archived conversations, and articles made of old memories.';
comment on column memory.documents.user_id is 'The user to whom the row belongs.';
comment on column memory.documents.document_id is 'Names the document, as memory.add_document() returned it.';
comment on column memory.documents.namespace is
'A group of documents, by which searches may be narrowed; conversations:<user_id> for archived conversations, '
'/memories for files of models.';
comment on column memory.documents.doc_type is 'document, conversation, article, or what the application names.';
comment on column memory.documents.title is 'The title, or null; of a file its path.';
comment on column memory.documents.content is 'The whole text.';
comment on column memory.documents.metadata is 'Of the application.';
comment on column memory.documents.source is
'user: added by the application. archive: a compressed conversation, one document per thread, closed_archive once '
'the thread was cleared. consolidation: an article made of memories, which metadata.memory_ids names.';
comment on column memory.documents.thread_id is 'Of an archived conversation the thread; null for other documents.';
comment on column memory.documents.agent_ids is 'The agents whose words went into the document.';
comment on column memory.documents.created_at is 'When the row was stored.';
comment on column memory.documents.updated_at is 'When the row was last changed.';
comment on column memory.documents.trust is
'From 0 to 1, as in memory.memories. A document of the application may lower it by metadata.trust; an article made '
'of memories has the least of theirs.';
comment on column memory.documents.quarantined_at is 'Since when no search finds it and no list shows it.';
comment on column memory.documents.quarantine_reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.documents.quarantined_with is
'The poisoned source from which the document derives; null if the document itself was put into quarantine.';
comment on column memory.documents.released_at is 'When it was last released: no rule quarantines it again.';

create table memory.document_chunks (
  user_id text not null, -- user
  document_id uuid not null, -- document
  number int not null, -- number
  content text not null, -- kept
  token_count int, -- number
  primary key (user_id, document_id, number),
  constraint document_chunks_user_id_document_id_fkey foreign key (user_id, document_id)
    references memory.documents on delete cascade
);
create index document_chunks_uncut_idx on memory.document_chunks (user_id, document_id) where token_count is null;
comment on table memory.document_chunks is
'The pieces that documents are found by. A long document is one piece until a job has cut it.';
comment on column memory.document_chunks.user_id is 'The user to whom the row belongs.';
comment on column memory.document_chunks.document_id is 'The document of which this is a piece.';
comment on column memory.document_chunks.number is 'The place of the piece in its document, from 0.';
comment on column memory.document_chunks.content is 'The text of the piece.';
comment on column memory.document_chunks.token_count is
'The tokens of the piece, counted by the job that cut the document, or an upper bound for a short document that '
'needs no cutting; null while a long document waits to be cut.';
