-- The rows that the functions of artifacts return.
create type memory.stored_artifact as (key text, memory_ref text, token_count int);
comment on type memory.stored_artifact is 'What memory.store_artifact() returns.';

create type memory.artifact as (
  key text, memory_ref text, artifact_type text, description text, token_count int, agent_id text, thread_id text,
  metadata jsonb, created_at timestamptz, expires_at timestamptz, total_count bigint
);
comment on type memory.artifact is 'An artifact, as memory.list_artifacts() returns it.';
