create or replace function memory.compress_thread(user_id text, thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_thread(user_id, thread_id);
  -- The thread is locked before its job, in the order of the worker that stores the result.
  perform from memory.threads as t
  where t.user_id = compress_thread.user_id and t.thread_id = compress_thread.thread_id for no key update;
  return memory._enqueue(user_id, 'compress_thread', thread_id, '{"is_forced": true}');
end;
$$;
comment on function memory.compress_thread(text, text) is
'Queues the compression of a thread and returns the job id. All but the newest compression.recent_messages_to_keep '
'messages go into the summary of the whole thread and are soft-deleted. A thread that reaches '
'compression.threshold_tokens is compressed by itself.';
