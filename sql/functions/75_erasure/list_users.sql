create or replace function memory.list_users(
  search text default null, row_limit int default 50, row_offset int default 0
)
returns table (
  user_id text, thread_count bigint, message_count bigint, memory_count bigint, last_at timestamptz, total_count bigint
)
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
set jit = off -- compiling takes longer than the query saves
set work_mem = '64MB' -- 1,000,000 threads of 100,000 users are then grouped without a sort on disk
as $$
#variable_conflict use_column
begin
  perform memory._check_page(row_limit, row_offset);
  if length(search) > 255 then
    perform memory._refuse('search', format('has %s characters, at most 255 are allowed', length(search)),
      'Pass a part of a user_id.', '54000');
  end if;
  -- Messages and memories are counted by threads and scopes, so that neither table is read. Users of whom only other
  -- things are stored are read from indexes.
  return query
  with counted as (
    select t.user_id, count(*) as threads, sum(t.message_count)::bigint as messages, max(t.last_at) as last_at
    from memory.threads as t group by t.user_id
  ), remembered as (
    select s.user_id, sum(s.memory_count)::bigint as memories from memory.memory_scopes as s group by s.user_id
  ), others as (
    select d.user_id from memory.documents as d
    union select a.user_id from memory.artifacts as a
    union select s.user_id from memory.secrets as s
    union select p.user_id from memory.policies as p where p.user_id <> ''
  )
  select user_id, coalesce(c.threads, 0), coalesce(c.messages, 0), coalesce(r.memories, 0), c.last_at,
    count(*) over ()
  from counted as c full join remembered as r using (user_id) full join others as o using (user_id)
  where coalesce(list_users.search, '') = '' or strpos(lower(user_id), lower(list_users.search)) > 0
  order by c.last_at desc nulls last, user_id
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_users(text, int, int) is
'The users that something is stored about, the last heard of first, with their counters; search is a part of the '
'user_id, ignoring case. total_count is the number of all matches. memory_count counts an expired memory until it is '
'swept. For administrators.';
