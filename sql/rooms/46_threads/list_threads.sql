create or replace function memory.list_threads(user_id text, row_limit int default 50, row_offset int default 0)
returns setof memory.thread
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_page(row_limit, row_offset);
  return query
  select t.thread_id, t.message_count, t.active_tokens, t.first_at, t.last_at,
    (select count(*) from memory.threads as c where c.user_id = list_threads.user_id)
  from memory.thread_stats as t
  where t.user_id = list_threads.user_id
  order by t.last_at desc nulls last, t.thread_id
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_threads(text, int, int) is
'Threads of a user with their counters, the most recently used first; total_count is the number of all of them.';
