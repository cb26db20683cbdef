create or replace function memory.list_memories(
  user_id text, agent_id text default null, memory_type text default null,
  search text default null, tags_all text[] default null, row_limit int default 50, row_offset int default 0,
  as_of timestamptz default null, include_superseded boolean default false
)
returns setof memory.memory
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_listing(user_id, agent_id, memory_type, search, tags_all);
  perform memory._check_page(row_limit, row_offset);
  return query
  select m.memory_id, m.memory_type, m.content, m.agent_id, m.thread_id, m.metadata, m.tags, m.confidence, m.importance,
    memory._real_or_null(m.valid_from), memory._real_or_null(m.valid_to), m.created_at, m.updated_at,
    memory._real_or_null(m.expires_at), m.superseded_by, m.supersede_reason, m.superseded_at, m.version,
    count(*) over ()
  from memory._listed_memories(list_memories.user_id, list_memories.agent_id, list_memories.memory_type,
    list_memories.search, list_memories.tags_all, list_memories.as_of, list_memories.include_superseded) as m
  order by m.created_at desc, m.memory_id desc
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_memories(text, text, text, text, text[], int, int, timestamptz, boolean) is
'Memories of a user, newest first, filtered by agent, type, tags and text (anywhere in content or embedding_text, '
'ignoring case). total_count is the number of matches on all pages. as_of lists the memories that held at that time; '
'include_superseded adds superseded ones. valid_to and expires_at are null for never.';
