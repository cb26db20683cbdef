-- What the functions of threads return.
create type memory.thread as (
  thread_id text, message_count bigint, active_tokens bigint, first_at timestamptz, last_at timestamptz,
  total_count bigint
);
comment on type memory.thread is 'A thread with its counters, as memory.list_threads() returns it.';
