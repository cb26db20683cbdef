-- Detail memory: what is too long for a context is kept whole under a key, and a placeholder stands for it.
create table memory.artifacts (
  user_id text not null,
  key text not null,
  artifact_type text not null default 'command_output',
  content text not null,
  description text not null,
  token_count int not null,
  agent_id text not null default 'default',
  thread_id text,
  metadata jsonb not null default '{}',
  search_vector tsvector not null,
  created_at timestamptz not null default statement_timestamp(),
  expires_at timestamptz,
  primary key (user_id, key),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object')
);
create index artifacts_recent_idx on memory.artifacts (user_id, created_at, key);
create index artifacts_thread_idx on memory.artifacts (user_id, thread_id) where thread_id is not null;
create index artifacts_expires_at_idx on memory.artifacts (expires_at) where expires_at is not null;
comment on table memory.artifacts is 'Outputs of commands, files and other long texts, whole. A context holds their placeholders: [MemoryRef: <key> - <description> - <token_count> tokens].';
comment on column memory.artifacts.key is 'What the placeholder and memory.retrieve_artifact() name it by, unique per user. Made of the description when none is given.';
comment on column memory.artifacts.description is 'One line without square brackets. Made of metadata.command, or else of the content, when none is given.';
comment on column memory.artifacts.token_count is 'Estimated as bytes / 4, the tokens by which memory.retrieve_artifact() slices.';
comment on column memory.artifacts.metadata is 'Of the application. command is the command that the content is the output of.';
