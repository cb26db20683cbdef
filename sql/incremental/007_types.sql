-- Result rows of the API. Named types, because a result column may have the name of an argument (content, user_id).
create type memory.stored_message as (seq bigint, content text, token_count int, memory_ref text);
create type memory.message as (
  seq bigint, role text, content text, agent_id text, metadata jsonb, token_count int,
  created_at timestamptz, expires_at timestamptz, is_active boolean
);
create type memory.context_part as (ordinal int, role text, content text, source text, token_count int, metadata jsonb);
create type memory.thread as (
  thread_id text, message_count bigint, active_tokens bigint, first_at timestamptz, last_at timestamptz, total_count bigint
);
create type memory.thread_summary as (
  summary_id uuid, summary text, start_seq bigint, end_seq bigint, base_summary_id uuid, status text,
  metadata jsonb, generation_time_ms int, created_at timestamptz
);
create type memory.stored_memory as (memory_id uuid, inserted boolean);
create type memory.memory as (
  memory_id uuid, memory_type text, content text, agent_id text, thread_id text, metadata jsonb, tags text[],
  confidence real, importance real, valid_from timestamptz, valid_to timestamptz, created_at timestamptz,
  updated_at timestamptz, expires_at timestamptz, superseded_by uuid, supersede_reason text,
  superseded_at timestamptz, version int, total_count bigint
);
create type memory.memory_version as (
  version int, operation text, content text, metadata jsonb, changed_at timestamptz, changed_by text
);
create type memory.search_result as (
  source text, id text, thread_id text, content text, score real, metadata jsonb, created_at timestamptz, details jsonb
);
create type memory.job as (
  job_id bigint, kind text, status text, attempts int, result jsonb, error text, created_at timestamptz, finished_at timestamptz
);
create type memory.claimed_job as (
  job_id bigint, kind text, user_id text, lease_token uuid, attempt int, payload jsonb
);
create type memory.document as (
  document_id uuid, title text, namespace text, doc_type text, content text, metadata jsonb, thread_id text,
  created_at timestamptz, updated_at timestamptz, total_count bigint
);
create type memory.stored_artifact as (key text, memory_ref text, token_count int);
create type memory.artifact as (
  key text, memory_ref text, artifact_type text, description text, token_count int, agent_id text, thread_id text,
  metadata jsonb, created_at timestamptz, expires_at timestamptz, total_count bigint
);
create type memory.backfill as (model text, done bigint, total bigint, is_active boolean);
create type memory.ranking as (rank bigint, source text, id text, thread_id text, number bigint, created_at timestamptz, score real, explanation jsonb);
