create or replace function memory.list_threads(user_id text, row_limit int default 50, row_offset int default 0)
returns setof memory.thread
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_page(row_limit, row_offset);
  return query
  select t.thread_id, t.message_count - coalesce(e.messages, 0), t.active_tokens - coalesce(e.tokens, 0), t.first_at,
    t.last_at,
    (select count(*) from memory.threads as c where c.user_id = list_threads.user_id)
  from memory.threads as t
  left join memory._expired_in_threads() as e on e.user_id = t.user_id and e.thread_id = t.thread_id
  where t.user_id = list_threads.user_id
  order by t.last_at desc nulls last, t.thread_id
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_threads(text, int, int) is
'Threads of a user with their counters, the most recently used first; total_count is the number of all of them.';

-- What the counters of threads still count although it has expired: a counter goes down when memory.sweep() comes. Read
-- through the index on expires_at, so that it costs what has expired since then. Inlined by the planner.
create or replace function memory._expired_in_threads()
returns table (user_id text, thread_id text, messages bigint, tokens bigint)
language sql stable parallel safe
begin atomic
  select m.user_id, m.thread_id, count(*), sum(m.token_count)
  from memory.messages as m
  where m.is_active and m.expires_at <= statement_timestamp() and m.expires_at < 'infinity'
  group by m.user_id, m.thread_id;
end;
