-- The rows that the functions of threads return.
create type memory.thread as (
  thread_id text, message_count bigint, active_tokens bigint, first_at timestamptz, last_at timestamptz,
  total_count bigint, title text, metadata jsonb
);
comment on type memory.thread is 'A thread with its counters, as memory.get_thread() and '
'memory.list_threads() return it.';
