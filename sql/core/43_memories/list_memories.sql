create or replace function memory.list_memories(
  user_id text, agent_id text default null, memory_type text default null,
  search text default null, tags_all text[] default null, row_limit int default 50, row_offset int default 0,
  as_of timestamptz default null, include_superseded boolean default false, thread_id text default null,
  filter jsonb default null, created_after timestamptz default null, created_before timestamptz default null,
  include_quarantined boolean default false, spaces text[] default null, subject text default null,
  attribute text default null
)
returns setof memory.memory
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- The filters decide which index is fastest, so no plan suits all of them.
set plan_cache_mode = force_custom_plan
as $$
begin
  perform memory._check_listing(
    user_id, agent_id, memory_type, search, tags_all, thread_id, filter, subject, attribute);
  perform memory._check_page(row_limit, row_offset);
  -- The inner query counts and sorts only ids and times; with whole rows 100,000 memories would take three times as
  -- long. A thread_id names a thread of the user, so with this filter no memory of a space is listed.
  return query
  with found as materialized (
    select o.user_id, l.memory_id, l.created_at
    from unnest(list_memories.user_id || case when spaces <> '{}' then
      memory._spaces_to_read(list_memories.user_id, spaces) end) as o (user_id)
    cross join lateral memory._listed_memories(
      o.user_id, list_memories.agent_id, list_memories.memory_type, list_memories.search, list_memories.tags_all, as_of,
      include_superseded, list_memories.thread_id, list_memories.filter, created_after, created_before,
      include_quarantined, list_memories.subject, list_memories.attribute) as l
    where list_memories.thread_id is null or o.user_id = list_memories.user_id
  )
  select r.*
  from (select f.*, (select count(*) from found) as total
        from found as f order by f.created_at desc, f.memory_id desc limit row_limit offset row_offset) as p
  join memory.memories as m on m.user_id = p.user_id and m.memory_id = p.memory_id
  cross join lateral memory._memory_result(m, p.total) as r
  order by p.created_at desc, p.memory_id desc;
end;
$$;
comment on function memory.list_memories(
  text, text, text, text, text[], int, int, timestamptz, boolean, text, jsonb, timestamptz, timestamptz,
  boolean, text[], text, text
) is
'Memories of a user, newest first, filtered by agent, thread, type, tags, metadata (filter, a part of it), time and '
'text (anywhere in content or embedding_text, ignoring case), and by what they are about (subject, attribute). state '
'is current, ended, replaced, corrected, duplicate, deleted or quarantined. total_count is the number of matches on '
'all pages; source and source_seqs say where a memory comes from. as_of lists the memories that held at that time; '
'include_superseded adds superseded ones, include_quarantined those in quarantine. spaces names spaces that are '
'granted to the user: their memories stand among the user''s own, and space says which space a memory is of (null: '
'none). valid_to and expires_at are null for never.';
