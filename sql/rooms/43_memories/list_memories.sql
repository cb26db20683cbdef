create or replace function memory.list_memories(
  user_id text, agent_id text default null, memory_type text default null,
  search text default null, tags_all text[] default null, row_limit int default 50, row_offset int default 0,
  as_of timestamptz default null, include_superseded boolean default false, thread_id text default null,
  filter jsonb default null, created_after timestamptz default null, created_before timestamptz default null,
  include_quarantined boolean default false
)
returns setof memory.memory
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- The filters decide which index is fastest. After five calls PostgreSQL would use one plan for all filters, and the
-- list of one thread's memories would take 200 ms instead of 2 for a user with 100,000 memories.
set plan_cache_mode = force_custom_plan
as $$
begin
  perform memory._check_listing(user_id, agent_id, memory_type, search, tags_all, thread_id, filter);
  perform memory._check_page(row_limit, row_offset);
  -- The inner query counts and sorts only ids and times; whole rows of 100,000 memories would take three times as long.
  return query
  with found as materialized (
    select l.memory_id, l.created_at
    from memory._listed_memories(
      list_memories.user_id, list_memories.agent_id, list_memories.memory_type, list_memories.search,
      list_memories.tags_all, list_memories.as_of, list_memories.include_superseded, list_memories.thread_id,
      list_memories.filter, list_memories.created_after, list_memories.created_before,
      list_memories.include_quarantined) as l
  )
  select r.*
  from (select * from found as f order by f.created_at desc, f.memory_id desc limit row_limit offset row_offset) as p
  cross join (select count(*) as number from found) as total
  join memory.memories as m on m.user_id = list_memories.user_id and m.memory_id = p.memory_id
  cross join lateral memory._memory_result(m, total.number) as r
  order by p.created_at desc, p.memory_id desc;
end;
$$;
comment on function memory.list_memories(
  text, text, text, text, text[], int, int, timestamptz, boolean, text, jsonb, timestamptz, timestamptz,
  boolean
) is
'Memories of a user, newest first, filtered by agent, thread, type, tags, metadata (filter, a part of it), time and '
'text (anywhere in content or embedding_text, ignoring case). total_count is the number of matches on all pages; '
'source and source_seqs say where a memory comes from. as_of lists the memories that held at that time; '
'include_superseded adds superseded ones, include_quarantined those in quarantine. '
'valid_to and expires_at are null for never.';
