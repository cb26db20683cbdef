-- Conversations: threads and their messages.
create table memory.threads (
  user_id text not null,
  thread_id text not null,
  next_seq bigint not null default 0,
  message_count bigint not null default 0,
  active_tokens bigint not null default 0,
  first_at timestamptz,
  last_at timestamptz,
  primary key (user_id, thread_id)
-- Every message updates its thread's row. Half-empty pages, and no index on a column that changes, keep those updates
-- HOT: an index on last_at made add_message 1.5 times slower.
) with (fillfactor = 50);
comment on table memory.threads is 'One row per conversation: its next message number and its counters.';
comment on column memory.threads.next_seq is 'The seq the next message gets. Never goes back, so a number is never given twice.';
comment on column memory.threads.message_count is 'Stored messages that are active; an expired one counts until memory.sweep() removes it.';
comment on column memory.threads.active_tokens is 'Sum of token_count over the same messages.';

create table memory.messages (
  user_id text not null,
  thread_id text not null,
  seq bigint not null,
  agent_id text not null default 'default',
  role text not null,
  content text not null,
  metadata jsonb not null default '{}',
  search_vector tsvector,
  token_count int not null,
  is_counted boolean not null default false,
  summary_id uuid,
  idempotency_key text,
  created_at timestamptz not null,
  updated_at timestamptz not null,
  expires_at timestamptz not null,
  is_active boolean not null default true,
  primary key (user_id, thread_id, seq)
);
-- What a message may be is checked by its triggers, on insert and update, with errors that help; check constraints that
-- say it again would take 5 us of the 50 of an insert.
-- No foreign key to threads: the insert trigger creates the thread's row, and the trigger on threads removes the
-- messages of a deleted one. A foreign key checked per row would make a bulk insert about 1.6 times slower.
create unique index messages_idempotency_key_idx on memory.messages (user_id, idempotency_key, thread_id)
  where idempotency_key is not null;
-- For memory.sweep(). Expiry times arrive in rising order, which makes this the cheapest kind of insert a B-tree has.
create index messages_expires_at_idx on memory.messages (expires_at) where expires_at < 'infinity';
create index messages_inactive_idx on memory.messages (user_id, thread_id) where not is_active;
comment on table memory.messages is 'Every message of every conversation. Insert without seq: triggers number it, count it, set its expiry and queue model work.';
comment on column memory.messages.seq is 'Position in the thread: from 0, without gaps, assigned by trigger.';
comment on column memory.messages.search_vector is 'What keywords find it by: its words, its speaker''s name and its date. Null until the first job that reads the message, memory.sweep() or a change of its content fills it; search parses the text until then. What was put away before stays null.';
comment on column memory.messages.token_count is 'Tokens, tool calls included: estimated as bytes / 4 on the write path, replaced by the exact count of the first job that reads the message.';
comment on column memory.messages.is_counted is 'Whether token_count is exact.';
comment on column memory.messages.summary_id is 'The summary that took the place of this message when its thread was compressed.';
comment on column memory.messages.expires_at is 'Invisible from this moment on and removed by memory.sweep(); infinity means never.';
comment on column memory.messages.is_active is 'False once cleared or compressed (soft delete): invisible to the API, readable here until swept.';
