-- Long-term memories.
create table memory.memory_types (
  memory_type text primary key,
  heading text not null,
  description text not null,
  position int not null default 100
);
comment on table memory.memory_types is 'Kinds of long-term memories. Add a row to add a kind; heading is the line above its list in memory.render_memories().';
insert into memory.memory_types (memory_type, heading, description, position) values
  ('fact', 'Facts about the user or environment', 'Something true about the user or their environment', 10),
  ('preference', 'User preferences', 'What the user likes, dislikes or wants done a certain way', 20),
  ('context', 'Current context', 'What the user is working on, or the situation they are in', 30),
  ('procedural', 'How to do things', 'A way of working that was agreed or that proved right', 40),
  ('episodic', 'What happened before', 'An event that happened, with its time', 50),
  ('conversation_summary', 'Previous conversations', 'The summary of an earlier conversation', 60);

create table memory.memory_scopes (
  user_id text not null,
  agent_id text not null,
  memory_count bigint not null default 0,
  duplicates_skipped bigint not null default 0,
  primary key (user_id, agent_id)
) with (fillfactor = 50);
comment on table memory.memory_scopes is 'Counters of one agent''s memories of one user. The row lock on it makes the limit exact under concurrent writers.';
comment on column memory.memory_scopes.memory_count is 'Memories that are neither superseded nor deleted; an expired one counts until memory.sweep() removes it.';
comment on column memory.memory_scopes.duplicates_skipped is 'Exact duplicates that were not stored again.';

create table memory.memories (
  user_id text not null,
  memory_id uuid not null,
  agent_id text not null default 'default',
  memory_type text not null default 'fact',
  content text not null,
  content_hash text not null,
  embedding_text text,
  search_vector tsvector,
  long_search_vector tsvector,
  thread_id text,
  source_seqs bigint[],
  source text not null default 'user',
  metadata jsonb not null default '{}',
  tags text[] not null default '{}',
  confidence real not null default 1.0,
  importance real not null default 0.5,
  valid_from timestamptz,
  valid_to timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz,
  superseded_by uuid,
  supersede_reason text,
  superseded_at timestamptz,
  deleted_at timestamptz,
  version int not null default 1,
  operation text not null default 'insert',
  changed_by text not null default session_user,
  primary key (user_id, memory_id),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object'),
  constraint confidence_is_share check (confidence between 0 and 1),
  constraint importance_is_share check (importance between 0 and 1),
  constraint validity_is_ordered check (valid_from <= valid_to),
  constraint words_are_in_one_place check (num_nonnulls(search_vector, long_search_vector) = 1),
  constraint supersede_is_whole check ((superseded_by is null) = (superseded_at is null)),
  constraint operation_is_known check (operation in ('insert', 'update', 'supersede', 'delete', 'restore'))
);
-- Exact duplicates cannot exist: same agent, same type, same normalised content, both current.
create unique index memories_content_hash_idx on memory.memories (user_id, agent_id, memory_type, content_hash)
  where superseded_at is null and deleted_at is null;
-- Newest first for lists, oldest first for the limit; memory_id (uuid v7) breaks ties within one statement. A search without
-- filters reads only this index: a user's memories are scattered over the table and adjacent here, which is 0.7 ms instead of
-- 2.1 for a thousand. An entry has to fit in a third of a page, so long word vectors are not in it.
create index memories_recent_idx on memory.memories (user_id, agent_id, created_at, memory_id) include (expires_at, valid_to, search_vector)
  where superseded_at is null and deleted_at is null;
create index memories_long_idx on memory.memories (user_id) where long_search_vector is not null and superseded_at is null and deleted_at is null;
-- Index entries over 500 bytes would be compressed, and decompressing takes longer than comparing.
alter table memory.memories alter column search_vector set storage external;
create index memories_thread_idx on memory.memories (user_id, thread_id) where thread_id is not null;
create index memories_expires_at_idx on memory.memories (expires_at) where expires_at is not null;
create index memories_scope_expiry_idx on memory.memories (user_id, agent_id, expires_at)
  where expires_at is not null and superseded_at is null and deleted_at is null; -- the limit removes expired ones first
create index memories_deleted_at_idx on memory.memories (deleted_at) where deleted_at is not null;
comment on table memory.memories is 'What is known about a user beyond one conversation: facts, preferences, context, ...';
comment on column memory.memories.search_vector is 'Its words for keyword search; of a text with more than about 150 different words, long_search_vector has them.';
comment on column memory.memories.long_search_vector is 'The same where it is too long for memories_recent_idx; exactly one of the two is set.';
comment on column memory.memories.content_hash is 'SHA-256 of the content in lower case with single spaces, first 32 hex digits.';
comment on column memory.memories.source is 'Who says so: user, extraction, or what the caller names.';
comment on column memory.memories.source_seqs is 'Messages of thread_id that state it.';
comment on column memory.memories.superseded_by is 'The memory that took the place of this one, or the document it became part of (reason consolidated).';
comment on column memory.memories.supersede_reason is 'duplicate, near-duplicate, contradict, consolidated, or what memory.supersede_memory() was given.';
comment on column memory.memories.version is 'Rises with every change; earlier versions are in memory.memory_history.';
comment on column memory.memories.operation is 'The change that made this version.';

create table memory.memory_history (
  user_id text not null,
  memory_id uuid not null,
  version int not null,
  operation text not null,
  content text not null,
  metadata jsonb not null,
  tags text[] not null,
  confidence real not null,
  importance real not null,
  expires_at timestamptz,
  changed_at timestamptz not null,
  changed_by text not null,
  primary key (user_id, memory_id, version),
  foreign key (user_id, memory_id) references memory.memories on delete cascade
);
comment on table memory.memory_history is 'Earlier versions of memories, written when they are replaced; storing a new memory writes nothing here.';
