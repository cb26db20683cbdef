-- The rows that the functions of summaries return.
create type memory.thread_summary as (
  summary_id uuid, summary text, start_seq bigint, end_seq bigint, base_summary_id uuid, status text,
  metadata jsonb, generation_time_ms int, created_at timestamptz, kind text
);
comment on type memory.thread_summary is
'A summary, as memory.get_thread_summary() and memory.get_user_summary() return it.';
