create or replace function memory.summarize_thread(
  user_id text, thread_id text, recent_k int default null, kind text default null
)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_thread(user_id, thread_id);
  perform memory._check_recent_k(recent_k);
  perform memory._check_summary_kind(kind, 'what the policy makes');
  return memory._enqueue(user_id, 'summarize_thread', thread_id,
    jsonb_strip_nulls(jsonb_build_object('is_forced', true, 'recent_k', recent_k)),
    coalesce(kind, memory._kind_of_summary(memory._policy(
      user_id, memory._agent_of_message(user_id, thread_id, memory._newest_seq(user_id, thread_id))))));
end;
$$;
comment on function memory.summarize_thread(text, text, int, text) is
'Queues a summary of a thread and returns the job id. kind is rolling (shown in contexts in place of messages that do '
'not fit) or thread (of all messages); the default is thread if cadence.thread_summary_every_n is set, else rolling. '
'Both kinds can be current at the same time. A summary is made from the previous one of its kind and the messages '
'since, at most the last recent_k.';
