-- The states of graphs, as LangGraph's checkpointers keep them. A checkpoint is the state of a graph after a step. It
-- names the version of each channel, and the value of a channel in a version is stored once for all checkpoints that
-- have this version. The writes of the next step's tasks stand beside a checkpoint until the next checkpoint is stored.
-- Values are in the format of the client, which the database cannot read: they are not searched, embedded or read by a
-- model.
-- A row of memory.checkpoint_blobs may name one of memory.checkpoints (user_id, thread_id, namespace).
-- A row of memory.checkpoint_writes may name one of memory.checkpoints (user_id, thread_id, namespace, checkpoint_id).
create table memory.checkpoints (
  user_id text not null, -- user
  thread_id text not null, -- thread
  namespace text not null, -- name
  checkpoint_id text not null, -- checkpoint
  parent_id text, -- name
  checkpoint jsonb not null, -- kept
  metadata jsonb not null default '{}', -- kept
  created_at timestamptz not null default statement_timestamp(), -- time
  expires_at timestamptz, -- time or never
  primary key (user_id, thread_id, namespace, checkpoint_id)
);
create index checkpoints_run_idx on memory.checkpoints (user_id, (metadata ->> 'run_id')) where metadata ? 'run_id';
create index checkpoints_expiry_idx on memory.checkpoints (user_id, thread_id, expires_at)
  where expires_at is not null;
create index checkpoints_expires_at_idx on memory.checkpoints (expires_at) where expires_at is not null;
comment on table memory.checkpoints is
'The states of graphs: one row for each step. memory.get_checkpoint() returns one with its values.';
comment on column memory.checkpoints.user_id is 'The user to whom the row belongs.';
comment on column memory.checkpoints.thread_id is
'The thread of that user; it may have messages in memory.messages, and need not.';
comment on column memory.checkpoints.namespace is 'Empty for the graph itself, or the path of a graph within it.';
comment on column memory.checkpoints.checkpoint_id is 'The client''s id. Ids sort by time.';
comment on column memory.checkpoints.parent_id is 'The checkpoint that the step began with; null for the first one.';
comment on column memory.checkpoints.checkpoint is
'The checkpoint without its larger values: channel_versions names the version of each channel.';
comment on column memory.checkpoints.metadata is 'Of the client: source, step, run_id and what the configuration has.';
comment on column memory.checkpoints.created_at is 'When the row was stored.';
comment on column memory.checkpoints.expires_at is
'When the thread''s checkpoints become invisible, all at once. Only the last one stored has it; null means never.';

create table memory.checkpoint_blobs (
  user_id text not null, -- user
  thread_id text not null, -- thread
  namespace text not null, -- name
  channel text not null, -- name
  version text not null, -- name
  type text not null, -- name
  blob bytea, -- kept
  primary key (user_id, thread_id, namespace, channel, version)
);
comment on table memory.checkpoint_blobs is 'The values of channels, each once in each version.';
comment on column memory.checkpoint_blobs.user_id is 'The user to whom the row belongs.';
comment on column memory.checkpoint_blobs.thread_id is 'The thread of that user.';
comment on column memory.checkpoint_blobs.namespace is 'The namespace of the checkpoints.';
comment on column memory.checkpoint_blobs.channel is 'The name of the channel.';
comment on column memory.checkpoint_blobs.version is 'The version, as channel_versions of a checkpoint names it.';
comment on column memory.checkpoint_blobs.type is 'How the client has serialised the value, such as msgpack.';
comment on column memory.checkpoint_blobs.blob is 'The serialised value.';

create table memory.checkpoint_writes (
  user_id text not null, -- user
  thread_id text not null, -- thread
  namespace text not null, -- name
  checkpoint_id text not null, -- checkpoint
  task_id text not null, -- name
  place int not null, -- any number
  channel text not null, -- name
  type text not null, -- name
  blob bytea, -- kept
  task_path text not null default '', -- name
  primary key (user_id, thread_id, namespace, checkpoint_id, task_id, place)
);
comment on table memory.checkpoint_writes is 'What tasks of the step after a checkpoint have written.';
comment on column memory.checkpoint_writes.user_id is 'The user to whom the row belongs.';
comment on column memory.checkpoint_writes.thread_id is 'The thread of that user.';
comment on column memory.checkpoint_writes.namespace is 'The namespace of the checkpoint.';
comment on column memory.checkpoint_writes.checkpoint_id is
'The checkpoint that the step began with. A write may be stored before its checkpoint is.';
comment on column memory.checkpoint_writes.task_id is 'The task that wrote.';
comment on column memory.checkpoint_writes.place is
'The place among the task''s writes; negative for errors, interrupts and other signals, of which a task has one each.';
comment on column memory.checkpoint_writes.channel is 'The channel that was written.';
comment on column memory.checkpoint_writes.type is 'How the client has serialised the value, such as msgpack.';
comment on column memory.checkpoint_writes.blob is 'The serialised value.';
comment on column memory.checkpoint_writes.task_path is 'The path of the task: a step''s writes apply in this order.';
