-- The memories: what is known of users beyond one conversation.
-- Each row of memory.memories belongs to one of memory.memory_types (memory_type).
-- Each row of memory.memories belongs to one of memory.memory_scopes (user_id, agent_id).
-- A row of memory.memories may name one of memory.threads (user_id, thread_id).
-- Each row of memory.memory_uses belongs to one of memory.memories (user_id, memory_id).

-- The triggers memory_100_before_insert and memory_100_before_update check metadata, confidence, importance, trust,
-- operation and quarantine of each row, and their errors name the argument. There are no check constraints for these
-- six, because PostgreSQL reads and plans the check constraints of a table anew in each statement. The six constraints
-- would add 13 % to the instructions of add_memory, each 2 to 4 % (callgrind, PostgreSQL 15, November 2026);
-- validity_is_ordered adds 0.7 %.
--
-- is_stated is no generated column, because adding one rewrites the table. The planner assumes that a rewritten empty
-- table stays empty, so a first load would read all memories of the agent for each memory.
create table memory.memories (
  user_id text not null, -- user
  memory_id uuid not null, -- id
  agent_id text not null default 'default', -- agent
  memory_type text not null default 'fact', -- name
  content text not null, -- text
  content_hash text not null, -- made
  embedding_text text, -- wording
  thread_id text, -- thread
  source_seqs bigint[], -- message
  source text not null default 'user', -- name
  metadata jsonb not null default '{}', -- wording
  tags text[] not null default '{}', -- wording
  confidence real not null default 1.0, -- number
  importance real not null default 0.5, -- number
  valid_from timestamptz, -- time or never
  valid_to timestamptz, -- time or never
  created_at timestamptz not null, -- time
  updated_at timestamptz not null, -- time
  expires_at timestamptz, -- time or never
  superseded_by uuid, -- memory
  supersede_reason text, -- wording
  superseded_at timestamptz, -- time
  deleted_at timestamptz, -- time or infinity
  version int not null default 1, -- version
  operation text not null default 'insert', -- word
  changed_by text not null default session_user, -- name
  is_stated boolean not null default true, -- made
  said_at timestamptz, -- time
  trust real not null default 1.0, -- number
  quarantined_at timestamptz, -- time
  quarantine_reason text, -- wording
  quarantined_with text, -- origin
  released_at timestamptz, -- time
  subject text, -- wording
  attribute text, -- wording
  primary key (user_id, memory_id),
  constraint supersede_is_whole check (superseded_by is null or superseded_at is not null),
  constraint subject_is_named check (length(subject) between 1 and 255),
  constraint attribute_is_named check (length(attribute) between 1 and 255),
  constraint validity_is_ordered check (valid_from <= valid_to)
);
-- The current memories that have an attribute, such as the home of a person. Three long names would not fit into an
-- entry of the index, so the entry has a hash of the third name.
create index memories_attribute_idx on memory.memories (user_id, agent_id, md5(lower(attribute)))
  where attribute is not null and superseded_at is null and deleted_at is null;
create index memories_deleted_at_idx on memory.memories (deleted_at) where deleted_at is not null;
create index memories_expires_at_idx on memory.memories (expires_at) where expires_at is not null;
-- This index finds a hidden memory by its content when the memory is said again.
create index memories_hidden_hash_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is not null and deleted_at is null;
-- The least important memory of an agent comes first. The limit evicts it, unless the agent has expired memories.
create index memories_least_idx on memory.memories (user_id, agent_id, is_stated, importance, created_at, memory_id)
  where superseded_at is null and deleted_at is null;
-- memory.load_user() reads this index, which gives the 50 most important of 100,000 memories without a sort. The index
-- has the columns that the filters need, so that a scan skips another agent's memories without reading the table.
create index memories_profile_idx
  on memory.memories (user_id, memory_type, importance desc, created_at desc, memory_id desc)
  include (agent_id, expires_at, valid_to)
  where superseded_at is null and deleted_at is null and memory_type in ('preference', 'fact');
create index memories_quarantined_idx on memory.memories (user_id, agent_id, content_hash)
  where quarantined_at is not null;
-- Lists show the newest memory first; memory_id (uuid v7) breaks ties within one statement.
create index memories_recent_idx on memory.memories (user_id, agent_id, created_at, memory_id)
  include (expires_at, valid_to)
  where superseded_at is null and deleted_at is null;
create index memories_scope_expiry_idx on memory.memories (user_id, agent_id, expires_at)
  where expires_at is not null and superseded_at is null and deleted_at is null;
create index memories_superseded_by_idx on memory.memories (user_id, superseded_by) where superseded_by is not null;
create index memories_thread_idx on memory.memories (user_id, thread_id) where thread_id is not null;
-- An agent has each wording once, whatever the type of the memory. Without statistics the planner takes this index and
-- memories_recent_idx for equally good, and chooses the one that was made last. pg_restore makes indexes in the order
-- of the alphabet, so the name of this index comes last: with the other index, add_memory() of a known memory would
-- read all memories of the agent.
create unique index memories_wording_idx on memory.memories (user_id, agent_id, content_hash)
  where superseded_at is null and deleted_at is null;
comment on table memory.memories is
'What is known about a user beyond one conversation: facts, preferences, context, ...';
comment on column memory.memories.user_id is 'The user to whom the row belongs.';
comment on column memory.memories.memory_id is 'Names the memory, as memory.add_memory() returned it.';
comment on column memory.memories.agent_id is 'The agent of that user.';
comment on column memory.memories.memory_type is 'The kind of memory, a row of memory.memory_types.';
comment on column memory.memories.content is 'What is remembered: a sentence, as a rule.';
comment on column memory.memories.content_hash is
'SHA-256 of the content in lower case with single spaces and without blanks of no width, first 32 hex digits.';
comment on column memory.memories.embedding_text is
'What is embedded and searched in place of content; null means content.';
comment on column memory.memories.thread_id is 'The thread in which it was said; null for a memory of no thread.';
comment on column memory.memories.source_seqs is 'The messages of thread_id that state the memory.';
comment on column memory.memories.source is 'Who says so: user, extraction, or what the caller names.';
comment on column memory.memories.metadata is
'The application''s metadata; for an extracted memory also what extraction found, such as event_time and the value '
'of the attribute.';
comment on column memory.memories.tags is 'Labels by which lists and searches select.';
comment on column memory.memories.confidence is 'How sure the source is, from 0 to 1.';
comment on column memory.memories.importance is
'How much the memory matters, from 0 to 1: contexts weigh it, and at the limit the least important memory goes.';
comment on column memory.memories.valid_from is
'From when on the fact holds, in the world; null where that is not known.';
comment on column memory.memories.valid_to is 'Until when the fact holds, in the world; null means for ever.';
comment on column memory.memories.created_at is 'When the row was stored.';
comment on column memory.memories.updated_at is 'When the row was last changed.';
comment on column memory.memories.expires_at is
'Invisible from this moment on and removed by memory.sweep(); null means never.';
comment on column memory.memories.superseded_by is
'The memory that took the place of this one, or the document it became part of (reason consolidated).';
comment on column memory.memories.supersede_reason is
'replaced (another value took its place), ended (it no longer holds), corrected (it was never true), stated (it '
'contradicts what the user stated), duplicate, near-duplicate, consolidated, or what memory.supersede_memory() or '
'memory.end_memory() was given.';
comment on column memory.memories.superseded_at is
'When superseded_by took its place, or when it ended without a successor; null while it is current.';
comment on column memory.memories.deleted_at is
'When it was deleted or evicted; memory.sweep() removes it. infinity: it is in quarantine. Null otherwise.';
comment on column memory.memories.version is
'Rises with every change; earlier versions are in memory.memory_history.';
comment on column memory.memories.operation is
'The change that made this version: insert, update, supersede, delete, evict (it gave way to others at the limit), '
'restore, quarantine or release.';
comment on column memory.memories.changed_by is 'The role that had logged in when this version was made.';
comment on column memory.memories.is_stated is
'Whether somebody stated it; false when a model drew it from what was said.';
comment on column memory.memories.said_at is
'When it was last said: in the newest message that states it, or by the last memory.add_memory() that repeated it. '
'Null for a memory that was stored once and that no message states: it was said at created_at.';
comment on column memory.memories.trust is
'From 0 to 1: 1 for what the user or the application states, less for what an assistant, a tool or a web page said; '
'of an extracted memory the least of its source messages.';
comment on column memory.memories.quarantined_at is
'Since when nobody sees it, unless asked for. deleted_at is infinity meanwhile, so every reader takes it for '
'deleted, and no sweep removes it.';
comment on column memory.memories.quarantine_reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.memories.quarantined_with is
'The poisoned source from which the memory derives, such as "message thread/3"; null if the memory itself was put '
'into quarantine.';
comment on column memory.memories.subject is
'The person or thing that it is about, such as "user" or "daughter Lou"; null means the user.';
comment on column memory.memories.attribute is
'What the memory says of the subject, such as "home" or "phone/work". Policy memories.attributes says which '
'attributes have one value at a time. Null for a memory that no other value replaces.';
comment on column memory.memories.released_at is
'When it was last released: no rule quarantines it again while its content stays.';

create table memory.memory_history (
  user_id text not null, -- user
  memory_id uuid not null, -- memory
  version int not null, -- version
  operation text not null, -- word
  content text not null, -- text with keys
  metadata jsonb not null, -- wording with keys
  tags text[] not null, -- wording
  confidence real not null, -- number
  importance real not null, -- number
  expires_at timestamptz, -- time or never
  changed_at timestamptz not null, -- time
  changed_by text not null, -- name
  superseded_by uuid, -- memory
  supersede_reason text, -- wording
  valid_to timestamptz, -- time or never
  primary key (user_id, memory_id, version),
  constraint memory_history_user_id_memory_id_fkey foreign key (user_id, memory_id)
    references memory.memories on delete cascade
);
create index memory_history_superseded_by_idx on memory.memory_history (user_id, superseded_by)
  where superseded_by is not null;
comment on table memory.memory_history is
'Earlier versions of memories, written when they are replaced; storing a new memory writes nothing here.';
comment on column memory.memory_history.user_id is 'The user to whom the row belongs.';
comment on column memory.memory_history.memory_id is 'The memory of which this is an earlier version.';
comment on column memory.memory_history.version is 'The number of the version, from 1.';
comment on column memory.memory_history.operation is 'The change that made this version, as in memory.memories.';
comment on column memory.memory_history.content is 'What this version said.';
comment on column memory.memory_history.metadata is 'The metadata of this version.';
comment on column memory.memory_history.tags is 'The tags of this version.';
comment on column memory.memory_history.confidence is 'The confidence of this version.';
comment on column memory.memory_history.importance is 'The importance of this version.';
comment on column memory.memory_history.expires_at is 'When this version was to expire; null means never.';
comment on column memory.memory_history.changed_at is 'When this version was made.';
comment on column memory.memory_history.changed_by is 'The role that had logged in when this version was made.';
comment on column memory.memory_history.superseded_by is 'The memory or document that hid this version.';
comment on column memory.memory_history.supersede_reason is 'Why this version was hidden, as in memory.memories.';
comment on column memory.memory_history.valid_to is 'Until when this version was to hold; null means for ever.';

-- How often memories were used, in a table of its own. Columns of memory.memories would be heavier: each use would run
-- the triggers of an update, write a version to memory.memory_history and an entry to each index, and wait for any
-- session that changes the memory. There is no foreign key: its check waits for a session that deletes the memory, and
-- that session may wait for a use of another memory. A trigger on memory.memories deletes the uses of deleted memories.
create table memory.memory_uses (
  user_id text not null, -- user
  memory_id uuid not null, -- memory
  used bigint not null default 0, -- number
  helpful bigint not null default 0, -- number
  wrong bigint not null default 0, -- number
  outcome text not null, -- word
  thread_id text, -- thread
  updated_at timestamptz not null, -- time
  primary key (user_id, memory_id)
) with (fillfactor = 50);
comment on table memory.memory_uses is 'How often applications said that they used a memory, and what came of that.';
comment on column memory.memory_uses.user_id is 'The user to whom the row belongs.';
comment on column memory.memory_uses.memory_id is 'The memory that was used.';
comment on column memory.memory_uses.used is 'How often the memory was used without a report of whether it helped.';
comment on column memory.memory_uses.helpful is 'How often it helped.';
comment on column memory.memory_uses.wrong is 'How often it was wrong.';
comment on column memory.memory_uses.outcome is 'What was recorded last: used, helpful or wrong.';
comment on column memory.memory_uses.thread_id is
'The thread of the last use; null where the call named none. Such a thread need not exist.';
comment on column memory.memory_uses.updated_at is 'When a use was last counted.';

create table memory.memory_scopes (
  user_id text not null, -- user
  agent_id text not null, -- agent
  memory_count bigint not null default 0, -- made
  duplicates_skipped bigint not null default 0, -- number
  extracted_on date, -- time
  extracted_count int not null default 0, -- number
  primary key (user_id, agent_id)
) with (fillfactor = 50);
comment on table memory.memory_scopes is
'Counters of one agent''s memories of one user. The row lock on it makes the limit exact under concurrent writers.';
comment on column memory.memory_scopes.user_id is 'The user to whom the row belongs.';
comment on column memory.memory_scopes.agent_id is 'The agent of that user.';
comment on column memory.memory_scopes.memory_count is
'Memories that are neither superseded nor deleted; an expired one counts until memory.sweep() removes it.';
comment on column memory.memory_scopes.duplicates_skipped is 'Exact duplicates that were not stored again.';
comment on column memory.memory_scopes.extracted_on is 'The day (UTC) that extracted_count counts.';
comment on column memory.memory_scopes.extracted_count is
'Memories that models extracted on that day, which policy memories.max_extracted_per_day limits.';

create table memory.memory_types (
  memory_type text primary key, -- id
  heading text not null, -- setting
  description text not null, -- setting
  position int not null default 100, -- number
  is_general boolean not null default true -- flag
);
insert into memory.memory_types (memory_type, heading, description, position) values
  ('fact', 'Facts about the user or environment', 'Something true about the user or their environment', 10),
  ('preference', 'User preferences', 'What the user likes, dislikes or wants done a certain way', 20),
  ('context', 'Current context', 'What the user is working on, or the situation they are in', 30),
  ('procedural', 'How to do things', 'A way of working that was agreed or that proved right', 40),
  ('episodic', 'What happened before', 'An event that happened, with its time', 50),
  ('conversation_summary', 'Previous conversations', 'The summary of an earlier conversation', 60);
comment on table memory.memory_types is
'Kinds of long-term memories. Add a row to add a kind; heading is the line above its list in '
'memory.render_memories().';
comment on column memory.memory_types.memory_type is 'The name of the kind.';
comment on column memory.memory_types.heading is
'The line above the memories of this kind in memory.render_memories().';
comment on column memory.memory_types.description is 'Says to people which memories are of this kind.';
comment on column memory.memory_types.position is
'The place of the kind in memory.render_memories(). The kind with the lowest number comes first.';
comment on column memory.memory_types.is_general is
'Whether extraction offers the kind to agents whose policy names none (extraction.types).';
