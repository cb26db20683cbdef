-- The conversations: threads and their messages.
-- Each row of memory.messages belongs to one of memory.threads (user_id, thread_id).
-- A row of memory.messages may name one of memory.summaries (user_id, summary_id).
-- A row of memory.messages may name one of memory.artifacts (user_id, artifact_key).
-- Each row of memory.idempotency_keys belongs to one of memory.threads (user_id, thread_id).
-- Each row of memory.shown_rounds belongs to one of memory.messages (user_id, thread_id, seq).
-- Each row of memory.quarantined_messages belongs to one of memory.messages (user_id, thread_id, seq).
create table memory.threads (
  user_id text not null, -- user
  thread_id text not null, -- thread
  next_seq bigint not null default 0, -- number
  message_count bigint not null default 0, -- made
  active_tokens bigint not null default 0, -- made
  first_at timestamptz, -- time
  last_at timestamptz, -- time
  tokens_since_summary bigint not null default 0, -- number
  title text, -- wording
  metadata jsonb, -- wording
  settled_at timestamptz, -- made
  primary key (user_id, thread_id)
-- Every message updates the row of its thread. These updates are HOT, because pages are half empty and no index has a
-- column that changes. Otherwise add_message would be 1.5 times slower.
) with (fillfactor = 50);
-- settled_at seldom changes. Searches and sweeps find the threads with messages that may be unread in
-- threads_unsettled_idx, without comparing all threads with their marks. memory.list_threads() reads both indexes.
create index threads_unsettled_idx on memory.threads (user_id, thread_id) where settled_at is null;
create index threads_settled_idx on memory.threads (user_id, settled_at desc, thread_id) where settled_at is not null;
comment on table memory.threads is 'One row per conversation: its next message number and its counters.';
comment on column memory.threads.user_id is 'The user to whom the row belongs.';
comment on column memory.threads.thread_id is 'The name of the conversation, which its first message gave.';
comment on column memory.threads.next_seq is
'The seq the next message gets. Never goes back, so a number is never given twice.';
comment on column memory.threads.message_count is
'Stored messages that are active; an expired one counts until memory.sweep() removes it.';
comment on column memory.threads.active_tokens is 'Sum of token_count over the same messages.';
comment on column memory.threads.first_at is 'created_at of its earliest message.';
comment on column memory.threads.last_at is 'created_at of its latest message.';
comment on column memory.threads.tokens_since_summary is
'Tokens that were appended since the newest summary of the thread. It says when policy summary.when needed makes '
'the next one. It is set anew when a summary is stored, and may be too high after messages are cleared or expire.';
comment on column memory.threads.title is 'What memory.set_thread() calls the conversation, or null.';
comment on column memory.threads.settled_at is
'A copy of last_at (-infinity where that is null), for indexes. memory.sweep() makes it once all messages are parsed '
'and the last one is a day old; the next message makes it null.';
comment on column memory.threads.metadata is
'The application''s metadata, from memory.set_thread(). Null means that there is none, and that a message made the '
'row.';

-- The triggers check a message on insert and update, and their errors help the caller; no check constraint repeats
-- these rules. There is no foreign key to threads: the trigger on insert creates the row of the thread, and the trigger
-- on threads removes the messages of a deleted thread. A foreign key would make a bulk insert about 1.6 times slower.
create table memory.messages (
  user_id text not null, -- user
  thread_id text not null, -- thread
  seq bigint not null, -- message
  agent_id text not null default 'default', -- agent
  role text not null, -- word
  content text not null, -- text with keys
  metadata jsonb not null default '{}', -- text with keys
  token_count int not null, -- number
  is_counted boolean not null default false, -- flag
  summary_id uuid, -- summary
  idempotency_key text, -- name
  created_at timestamptz not null, -- time
  updated_at timestamptz not null, -- time
  expires_at timestamptz not null, -- time or never
  is_active boolean not null default true, -- flag
  artifact_key text, -- artifact
  content_digest text, -- hash
  files jsonb, -- text
  utc_offset smallint, -- number
  primary key (user_id, thread_id, seq)
);
alter table memory.messages alter column files set storage external; -- base64 does not get shorter
create index messages_artifact_idx on memory.messages (user_id, thread_id, artifact_key)
  where artifact_key is not null;
-- For the newest messages of a thread that became artifacts. Without this index a context of a long thread without
-- artifacts would read the whole thread to find none.
create index messages_artifact_seq_idx on memory.messages (user_id, thread_id, seq) where artifact_key is not null;
-- memory.sweep() looks for cleared messages. Compressed ones, which stay until they expire, are not in this index.
create index messages_cleared_idx on memory.messages (user_id, thread_id) where not is_active and summary_id is null;
-- For memory.sweep(). Expiry times arrive in rising order, which makes this the cheapest kind of insert a B-tree has.
create index messages_expires_at_idx on memory.messages (expires_at) where expires_at < 'infinity';
create unique index messages_idempotency_key_idx on memory.messages (user_id, idempotency_key, thread_id)
  where idempotency_key is not null;
comment on table memory.messages is
'Every message of every conversation. Insert without seq: triggers number it, count it, set its expiry and queue '
'model work.';
comment on column memory.messages.user_id is 'The user to whom the row belongs.';
comment on column memory.messages.thread_id is 'The conversation, a row of memory.threads.';
comment on column memory.messages.seq is 'Position in the thread: from 0, without gaps, assigned by trigger.';
comment on column memory.messages.agent_id is 'The agent to whom the user talks.';
comment on column memory.messages.role is 'user, assistant, tool, system or developer.';
comment on column memory.messages.content is
'The text, or the words that take its place (see artifact_key, and quarantined_messages).';
comment on column memory.messages.metadata is
'The application''s metadata; also tool_calls, tool_call_id and name of a chat message, and its parts without the '
'data of files.';
comment on column memory.messages.token_count is
'Tokens, with tool calls, pictures and files: estimated on the write path (a text as bytes / 4). If the message has '
'neither pictures nor files, the first job that reads it replaces the estimate by the exact count.';
comment on column memory.messages.is_counted is 'Whether token_count is exact.';
comment on column memory.messages.summary_id is
'The summary that took the place of this message when its thread was compressed.';
comment on column memory.messages.idempotency_key is
'The key that the caller gave: a repetition in the thread stores nothing.';
comment on column memory.messages.created_at is 'When it was said; the caller may name an earlier time.';
comment on column memory.messages.updated_at is 'When the row was last changed.';
comment on column memory.messages.expires_at is
'Invisible from this moment on and removed by memory.sweep(); infinity means never.';
comment on column memory.messages.is_active is
'False once cleared or compressed (soft delete). A cleared message is invisible to the API and readable here until '
'memory.sweep() removes it. A compressed one (summary_id is set) has left its thread, and search finds it until it '
'expires.';
comment on column memory.messages.artifact_key is
'The artifact that keeps the whole content, whose placeholder stands in content. Null: content is what was said.';
comment on column memory.messages.content_digest is
'SHA-256 of role and whole content, where an idempotency key needs it and an artifact keeps the content.';
comment on column memory.messages.files is
'The data in base64 of pictures, sounds and other files, by the tags that stand in its place in metadata. Null for a '
'message without files.';
comment on column memory.messages.utc_offset is
'Minutes east of UTC of the created_at that add_messages() was given, by which days are counted where neither the '
'thread nor the policy names a time zone. Null: created_at named no offset.';

create table memory.shown_rounds (
  user_id text not null, -- user
  thread_id text not null, -- thread
  seq bigint not null, -- message
  agent_id text not null default '', -- agent
  query_hash text not null, -- hash
  max_tokens int not null, -- number
  token_count int not null, -- number
  messages jsonb not null, -- message
  shown_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, thread_id, agent_id, seq)
);
comment on table memory.shown_rounds is
'What contexts have recalled for a message of the user, so that later contexts of the thread show the same in the same '
'place. Written by memory.get_context(); a row goes when the thread begins after its message.';
comment on column memory.shown_rounds.user_id is 'The user to whom the row belongs.';
comment on column memory.shown_rounds.thread_id is 'The thread of the context.';
comment on column memory.shown_rounds.seq is 'The message of the user before which the recalled messages stand.';
comment on column memory.shown_rounds.agent_id is 'The agent whose context it was; empty for a context of all agents.';
comment on column memory.shown_rounds.query_hash is 'SHA-256 of the query.';
comment on column memory.shown_rounds.max_tokens is 'The limit of the context.';
comment on column memory.shown_rounds.token_count is 'Tokens of the recalled messages, with what stands around them.';
comment on column memory.shown_rounds.messages is
'The recalled messages by thread_id and seq, with score, relevance and tokens; of a passage, where it begins and how '
'long it is. Their texts are not here.';
comment on column memory.shown_rounds.shown_at is 'When it was shown first.';

create table memory.idempotency_keys (
  user_id text not null, -- user
  thread_id text not null, -- thread
  idempotency_key text not null, -- id
  seq bigint not null, -- message
  digest text not null, -- hash
  token_count int not null, -- number
  primary key (user_id, thread_id, idempotency_key)
);
comment on table memory.idempotency_keys is
'Keys of messages that are no longer stored, so that a retry still stores nothing. The keys are deleted with their '
'thread.';
comment on column memory.idempotency_keys.user_id is 'The user to whom the row belongs.';
comment on column memory.idempotency_keys.thread_id is 'The thread of that user.';
comment on column memory.idempotency_keys.idempotency_key is 'The key that the caller gave the message.';
comment on column memory.idempotency_keys.seq is
'The number that the message had, which a repetition gets as its answer.';
comment on column memory.idempotency_keys.digest is
'Tells the same message from another one under the key: SHA-256 of role and content, which are not kept.';
comment on column memory.idempotency_keys.token_count is 'The tokens that the message had.';

create table memory.quarantined_messages (
  user_id text not null, -- user
  thread_id text not null, -- thread
  seq bigint not null, -- message
  content text not null, -- text with keys
  content_digest text not null, -- hash
  reason text not null, -- wording
  quarantined_at timestamptz not null default statement_timestamp(), -- time
  released_at timestamptz, -- time
  primary key (user_id, thread_id, seq)
);
comment on table memory.quarantined_messages is
'The texts of quarantined messages. The row of such a message has only a notice, so no reader of messages can show '
'the text.';
comment on column memory.quarantined_messages.user_id is 'The user to whom the row belongs.';
comment on column memory.quarantined_messages.thread_id is 'The thread of the message.';
comment on column memory.quarantined_messages.seq is 'The number of the message in its thread.';
comment on column memory.quarantined_messages.content is 'What was said; empty once the message is released.';
comment on column memory.quarantined_messages.content_digest is
'Of the message as its caller passed it, so that a repetition under its idempotency key is still no new message.';
comment on column memory.quarantined_messages.reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.quarantined_messages.quarantined_at is 'Since when it is in quarantine.';
comment on column memory.quarantined_messages.released_at is
'When the message was released: no rule quarantines it again.';
