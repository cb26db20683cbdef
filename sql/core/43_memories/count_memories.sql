create or replace function memory.count_memories(
  user_id text, agent_id text default null, memory_type text default null, search text default null,
  tags_all text[] default null, as_of timestamptz default null, include_superseded boolean default false,
  thread_id text default null, filter jsonb default null, created_after timestamptz default null,
  created_before timestamptz default null,
  include_quarantined boolean default false, subject text default null, attribute text default null
)
returns bigint
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan -- for the reason given in memory.list_memories()
as $$
begin
  perform memory._check_listing(
    user_id, agent_id, memory_type, search, tags_all, thread_id, filter, subject, attribute);
  return count(*)
  from memory._listed_memories(
    count_memories.user_id, count_memories.agent_id, count_memories.memory_type, count_memories.search,
    count_memories.tags_all, count_memories.as_of, count_memories.include_superseded, count_memories.thread_id,
    count_memories.filter, count_memories.created_after, count_memories.created_before,
    count_memories.include_quarantined, count_memories.subject, count_memories.attribute);
end;
$$;
comment on function memory.count_memories(
  text, text, text, text, text[], timestamptz, boolean, text, jsonb, timestamptz, timestamptz,
  boolean, text, text
) is
'The number of memories that memory.list_memories() lists under the same filters, on all its pages.';
