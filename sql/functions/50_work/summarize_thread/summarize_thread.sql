create or replace function memory.summarize_thread(user_id text, thread_id text, recent_k int default null)
returns bigint
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_thread(user_id, thread_id);
  perform memory._check_recent_k(recent_k);
  return memory._enqueue(user_id, 'summarize_thread', thread_id,
    jsonb_strip_nulls(jsonb_build_object('recent_k', recent_k)));
end;
$$;
comment on function memory.summarize_thread(text, text, int) is
'Queues a summary of a thread and returns the job id: of its newest summary.window_size messages, or of the whole '
'thread where cadence.thread_summary_every_n is set. It is made from the summary before and the messages since, at '
'most the last recent_k.';
