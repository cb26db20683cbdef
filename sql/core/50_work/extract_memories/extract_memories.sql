create or replace function memory.extract_memories(user_id text, thread_id text, recent_k int default null)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_thread(user_id, thread_id);
  perform memory._check_recent_k(recent_k);
  return memory._enqueue(user_id, 'extract_memories', thread_id,
    jsonb_strip_nulls(jsonb_build_object('recent_k', recent_k)));
end;
$$;
comment on function memory.extract_memories(text, text, int) is
'Queues the extraction of long-term memories from the messages of a thread that no extraction has read (at most the '
'last recent_k) and returns the job id. Messages queue it by themselves every cadence.fact_extraction_every_n '
'messages.';
