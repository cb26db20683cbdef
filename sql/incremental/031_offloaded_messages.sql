-- A message that is too long for a context is kept as an artifact, and its row holds a placeholder. The column says
-- so, because a text can look like a placeholder and not be one.
alter table memory.messages add column artifact_key text;
alter table memory.messages add column content_digest text;
create index messages_artifact_idx on memory.messages (user_id, thread_id, artifact_key) where artifact_key is not null;
comment on column memory.messages.artifact_key is 'The artifact that keeps the whole content, whose placeholder stands in content. Null: content is what was said.';
comment on column memory.messages.content_digest is 'SHA-256 of role and whole content, where an idempotency key needs it and an artifact keeps the content.';

alter table memory.artifacts add column check_at timestamptz;
create index artifacts_check_at_idx on memory.artifacts (check_at) where check_at < 'infinity';
comment on column memory.artifacts.check_at is 'When memory.sweep() looks whether anything names this artifact, and deletes it if not; infinity while a message does. Null for one that memory.store_artifact() stored, which lives for itself.';

create type memory.shortened_message as (
  content text, metadata jsonb, token_count int, artifact_key text, content_digest text, memory_ref text
);
comment on type memory.shortened_message is 'What is stored of a message whose content became an artifact.';
