create or replace function memory.list_threads(
  user_id text, row_limit int default 50, row_offset int default 0, search text default null,
  filter jsonb default null, active_after timestamptz default null, active_before timestamptz default null
)
returns setof memory.thread
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- the conditions decide which index is read
as $$
declare
  named text[]; -- the threads that have the words of the search
begin
  perform memory._check_reader(user_id);
  perform memory._check_page(row_limit, row_offset);
  perform memory._check_filter(filter);
  if length(search) > 1000 then
    perform memory._refuse('search', format('has %s characters, at most 1000 are allowed', length(search)),
      'Pass a few words.', '54000');
  end if;
  search := nullif(btrim(search), '');
  if search is not null then
    named := array(select w from memory._threads_with_words(user_id, search) as w);
  end if;
  -- An index gives the threads that a sweep has settled, the latest first. Counters are read only for the page.
  return query
  with page as materialized (
    select t.thread_id, t.title, t.metadata, t.last_at
    from (
      (select s.* from memory._chosen_threads(user_id, named, filter, active_after, active_before) as s
       where s.settled_at is not null
       order by s.settled_at desc, s.thread_id limit row_limit::bigint + row_offset)
      union all
      select u.* from memory._chosen_threads(user_id, named, filter, active_after, active_before) as u
      where u.settled_at is null
    ) as t
    order by t.last_at desc nulls last, t.thread_id limit row_limit offset row_offset
  )
  select p.thread_id, s.message_count, s.active_tokens, s.first_at, s.last_at,
    (select count(*) from memory._chosen_threads(
      list_threads.user_id, named, list_threads.filter, active_after, active_before)), p.title,
    coalesce(p.metadata, '{}')
  from page as p
  join memory.thread_stats as s on s.user_id = list_threads.user_id and s.thread_id = p.thread_id
  order by p.last_at desc nulls last, p.thread_id;
end;
$$;
comment on function memory.list_threads(text, int, int, text, jsonb, timestamptz, timestamptz) is
'Threads of a user with their counters, titles and metadata, the most recently used first: all of them, or those that '
'have all words of search in their title or in one of their messages, filter (a part) in their metadata, and their '
'latest message after active_after and before active_before. total_count is the number of matches on all pages.';

-- The threads of a user that meet these conditions. A null stands for no condition.
create or replace function memory._chosen_threads(
  p_user_id text, p_named text[], p_filter jsonb, p_active_after timestamptz, p_active_before timestamptz
)
returns setof memory.threads
language sql stable parallel safe
begin atomic
  select t.* from memory.threads as t
  where t.user_id = p_user_id
    and (p_named is null or t.thread_id = any (p_named))
    and (p_filter is null or coalesce(t.metadata, '{}') @> p_filter)
    and (p_active_after is null or t.last_at > p_active_after)
    and (p_active_before is null or t.last_at < p_active_before);
end;
