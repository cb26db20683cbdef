create or replace function memory.list_users(
  search text default null, row_limit int default 50, row_offset int default 0
)
returns table (
  user_id text, thread_count bigint, message_count bigint, memory_count bigint, last_at timestamptz, total_count bigint
)
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB' -- groups 1,000,000 threads of 100,000 users without a sort on disk
as $$
#variable_conflict use_column
begin
  perform memory._check_page(row_limit, row_offset);
  if length(search) > 255 then
    perform memory._refuse('search', format('has %s characters, at most 255 are allowed', length(search)),
      'Pass a part of a user_id.', '54000');
  end if;
  -- Messages and memories are counted by the counters of threads and agents, so that neither table is read, and only
  -- for the users of the page. The last activity of each user and the number of users take one pass over the threads:
  -- an index on last_at would make add_message 1.5 times slower. With 100,000 users the pass takes half the time of a
  -- join of all counters. A counter that plain SQL has set beyond any count is left out.
  return query
  with known as materialized (
    select u.user_id, max(u.last_at) as last_at
    from (
      select t.user_id, memory._real_or_null(t.last_at) as last_at from memory.threads as t
      {{each table with listed: union all select t.user_id, null from memory.<table> as t}}
    ) as u
    where u.user_id <> ''
      and (coalesce(list_users.search, '') = '' or strpos(lower(u.user_id), lower(list_users.search)) > 0)
    group by u.user_id
  )
  select p.user_id, c.threads, c.messages, r.memories, p.last_at, (select count(*) from known)
  from (
    select k.user_id, k.last_at from known as k
    order by k.last_at desc nulls last, k.user_id limit row_limit offset row_offset) as p
  cross join lateral (
    select count(*) as threads,
      coalesce(sum(t.message_count) filter (where t.message_count between 0 and 1000000000000), 0)::bigint as messages
    from memory.threads as t where t.user_id = p.user_id) as c
  cross join lateral (
    select
      coalesce(sum(s.memory_count) filter (where s.memory_count between 0 and 1000000000000), 0)::bigint as memories
    from memory.memory_scopes as s where s.user_id = p.user_id) as r
  order by p.last_at desc nulls last, p.user_id;
end;
$$;
comment on function memory.list_users(text, int, int) is
'The users that something is stored about, the last heard of first, with their counters; search is a part of the '
'user_id, ignoring case. total_count is the number of all matches. memory_count counts an expired memory until it is '
'swept. For administrators.';
