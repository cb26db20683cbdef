create or replace function memory.get_thread(user_id text, thread_id text)
returns setof memory.thread
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_reader(user_id);
  perform memory._check_thread(user_id, thread_id);
  return query
  select s.thread_id, s.message_count, s.active_tokens, s.first_at, s.last_at, bigint '1', t.title,
    coalesce(t.metadata, '{}')
  from memory.thread_stats as s
  join memory.threads as t on t.user_id = s.user_id and t.thread_id = s.thread_id
  where s.user_id = get_thread.user_id and s.thread_id = get_thread.thread_id;
end;
$$;
comment on function memory.get_thread(text, text) is
'A thread with its counters, its title (null: none) and its metadata. Error P0002 when the user has no such thread.';
