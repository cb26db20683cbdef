-- Texts that are too long for a context are stored whole under a key, and a placeholder stands for each. A row of
-- memory.artifact_parts holds at most some tens of kB: so one slice, line or passage of 200 MB is read without the
-- rest, and the words of a part fit into one tsvector.
-- A row of memory.artifacts may name one of memory.threads (user_id, thread_id).
-- A row of memory.artifact_parts may name one of memory.artifacts (user_id, content_id).
create table memory.artifacts (
  user_id text not null, -- user
  key text not null, -- artifact
  artifact_type text not null default 'command_output', -- name
  content text, -- text
  description text not null, -- wording
  token_count int not null, -- number
  agent_id text not null default 'default', -- agent
  thread_id text, -- thread
  metadata jsonb not null default '{}', -- wording with keys
  created_at timestamptz not null default statement_timestamp(), -- time
  expires_at timestamptz, -- time or never
  content_id uuid not null, -- made
  check_at timestamptz, -- time or infinity
  awaits_description boolean not null default false, -- flag
  quarantined_at timestamptz, -- time
  quarantine_reason text, -- wording
  released_at timestamptz, -- time
  primary key (user_id, key),
  constraint metadata_is_object check (jsonb_typeof(metadata) = 'object')
);
create index artifacts_check_at_idx on memory.artifacts (check_at) where check_at < 'infinity';
create unique index artifacts_content_idx on memory.artifacts (user_id, content_id);
create index artifacts_expires_at_idx on memory.artifacts (expires_at) where expires_at is not null;
create index artifacts_recent_idx on memory.artifacts (user_id, created_at, key);
create index artifacts_thread_idx on memory.artifacts (user_id, thread_id) where thread_id is not null;
create index artifacts_undescribed_idx on memory.artifacts (user_id, created_at, key) where awaits_description;
comment on table memory.artifacts is
'Outputs of commands, files and other long texts, whole. A context holds their placeholders: [MemoryRef: <key> - '
'<description> - <token_count> tokens].';
comment on column memory.artifacts.user_id is 'The user to whom the row belongs.';
comment on column memory.artifacts.key is
'The name by which the placeholder and memory.retrieve_artifact() refer to the artifact, unique per user. Made of '
'the description when none is given.';
comment on column memory.artifacts.artifact_type is
'What kind of text: command_output, or what the application names.';
comment on column memory.artifacts.content is
'Only written: a content that is inserted or updated here is moved to memory.artifact_parts within the statement. '
'Read it with memory.retrieve_artifact().';
comment on column memory.artifacts.description is
'One line without square brackets. Made of metadata.command, or else of the content, when none is given.';
comment on column memory.artifacts.token_count is
'Estimated as bytes / 4, the tokens by which memory.retrieve_artifact() slices.';
comment on column memory.artifacts.agent_id is 'The agent of that user.';
comment on column memory.artifacts.thread_id is 'The thread of that user; null where no thread is concerned.';
comment on column memory.artifacts.metadata is
'The application''s metadata. command is the command whose output the content is.';
comment on column memory.artifacts.created_at is 'When the row was stored.';
comment on column memory.artifacts.expires_at is
'Invisible from this moment on and removed by memory.sweep(); null means never.';
comment on column memory.artifacts.content_id is 'Names the parts of the content.';
comment on column memory.artifacts.check_at is
'When memory.sweep() checks whether anything names this artifact, and deletes it if nothing does; infinity while a '
'message names it. Null for an artifact that memory.store_artifact() stored, which stays even if nothing names it.';
comment on column memory.artifacts.awaits_description is
'Whether a job of kind describe_artifact is to improve the description.';
comment on column memory.artifacts.quarantined_at is 'Since when no search finds it and nobody can expand it.';
comment on column memory.artifacts.quarantine_reason is 'Why: the signs that a rule found, or what the caller gave.';
comment on column memory.artifacts.released_at is 'When it was last released: no rule quarantines it again.';

create table memory.artifact_parts (
  user_id text not null, -- user
  content_id uuid not null, -- id
  first_byte int not null, -- number
  first_line int not null, -- number
  content text not null, -- text
  is_parsed boolean not null default false, -- flag
  primary key (user_id, content_id, first_byte)
);
create index artifact_parts_lines_idx on memory.artifact_parts (user_id, content_id, first_line, first_byte);
create index artifact_parts_unparsed_idx on memory.artifact_parts (user_id, content_id, first_byte)
  where not is_parsed;
comment on table memory.artifact_parts is
'The contents of artifacts. A part ends with a line where it can, else with a word, else between two characters.';
comment on column memory.artifact_parts.user_id is 'The user to whom the row belongs.';
comment on column memory.artifact_parts.content_id is
'The content_id of the artifact, or the upload_id of an upload that no artifact names yet.';
comment on column memory.artifact_parts.first_byte is 'How many bytes of UTF-8 of the content come before this part.';
comment on column memory.artifact_parts.first_line is 'How many line breaks come before this part.';
comment on column memory.artifact_parts.content is 'The text of this part.';
comment on column memory.artifact_parts.is_parsed is
'Whether a rule has looked at the part, and the part has its row in memory.texts. A job or memory.sweep() sees to '
'both.';

create table memory.artifact_uploads (
  user_id text not null, -- user
  upload_id uuid not null, -- id
  updated_at timestamptz not null default statement_timestamp(), -- time
  primary key (user_id, upload_id)
);
create index artifact_uploads_updated_at_idx on memory.artifact_uploads (updated_at);
comment on table memory.artifact_uploads is
'Contents that are being sent in pieces and that no artifact names yet. A day after its last piece an upload is '
'swept.';
comment on column memory.artifact_uploads.user_id is 'The user to whom the row belongs.';
comment on column memory.artifact_uploads.upload_id is 'The content_id of its parts.';
comment on column memory.artifact_uploads.updated_at is 'When the row was last changed.';
