create or replace function memory.summarize_user(user_id text, recent_k int default null)
returns bigint
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_recent_k(recent_k);
  return memory._enqueue(user_id, 'summarize_user', '', jsonb_strip_nulls(jsonb_build_object('recent_k', recent_k)));
end;
$$;
comment on function memory.summarize_user(text, int) is
'Queues the profile of a user across threads and returns the job id: made from the profile before and the messages '
'since (at most the last recent_k). Messages queue it by themselves every cadence.user_summary_every_n messages.';
