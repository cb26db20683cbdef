create or replace function memory.summarize_thread(user_id text, thread_id text)
returns bigint
language plpgsql volatile parallel unsafe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_thread(user_id, thread_id);
  return memory._enqueue(user_id, 'summarize_thread', thread_id);
end;
$$;
comment on function memory.summarize_thread(text, text) is
'Queues a rolling summary of the newest summary.window_size messages of a thread and returns the job id. Happens by itself at the end of each round from summary.start_seq on.';
