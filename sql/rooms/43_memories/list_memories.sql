create or replace function memory.list_memories(
  user_id text, agent_id text default null, memory_type text default null,
  search text default null, tags_all text[] default null, row_limit int default 50, row_offset int default 0,
  as_of timestamptz default null, include_superseded boolean default false, thread_id text default null,
  filter jsonb default null, created_after timestamptz default null, created_before timestamptz default null,
  include_quarantined boolean default false, spaces text[] default null
)
returns setof memory.memory
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
-- A list without filters keeps its plan, which takes longer to make than to run, also one made for an empty table.
set plan_cache_mode = force_generic_plan
set enable_seqscan = off
set jit = off
as $$
begin
  perform memory._check_listing(user_id, agent_id, memory_type, search, tags_all, thread_id, filter);
  perform memory._check_page(row_limit, row_offset);
  if spaces <> '{}' then
    return query
    select l.* from memory._list_with_spaces(
      user_id, memory._spaces_to_read(user_id, spaces), agent_id, memory_type, search, tags_all, row_limit, row_offset,
      as_of, include_superseded, thread_id, filter, created_after, created_before, include_quarantined) as l;
    return;
  end if;
  if num_nonnulls(memory_type, search, tags_all, as_of, thread_id, filter, created_after, created_before) > 0
    or include_superseded is distinct from false or include_quarantined is distinct from false then
    return query
    select l.* from memory._list_filtered(
      user_id, agent_id, memory_type, search, tags_all, row_limit, row_offset, as_of, include_superseded, thread_id,
      filter, created_after, created_before, include_quarantined) as l;
    return;
  end if;
  -- The inner query counts and sorts only ids and times: it reads nothing but memories_recent_idx.
  return query
  with found as materialized (
    select v.memory_id, v.created_at from memory._valid_memories(list_memories.user_id, list_memories.agent_id) as v
  )
  select r.*
  from (select f.*, (select count(*) from found) as total -- once, and not once for each row
        from found as f order by f.created_at desc, f.memory_id desc limit row_limit offset row_offset) as p
  cross join lateral (
    -- Without offset 0 the plan might join with all memories of the user.
    select m from memory.memories as m
    where m.user_id = list_memories.user_id and m.memory_id = p.memory_id offset 0) as w
  cross join lateral memory._memory_result(w.m, p.total) as r
  order by p.created_at desc, p.memory_id desc;
end;
$$;
comment on function memory.list_memories(
  text, text, text, text, text[], int, int, timestamptz, boolean, text, jsonb, timestamptz, timestamptz,
  boolean, text[]
) is
'Memories of a user, newest first, filtered by agent, thread, type, tags, metadata (filter, a part of it), time and '
'text (anywhere in content or embedding_text, ignoring case). total_count is the number of matches on all pages; '
'source and source_seqs say where a memory comes from. as_of lists the memories that held at that time; '
'include_superseded adds superseded ones, include_quarantined those in quarantine. spaces names spaces that are '
'granted to the user: their memories stand among the user''s own, and space says which space a memory is of (null: '
'none). valid_to and expires_at are null for never.';

-- The same under filters, which decide what index is fastest. After five calls PostgreSQL would use one plan for all
-- filters, and the list of one thread's memories would take 200 ms instead of 2 for a user with 100,000 memories.
create or replace function memory._list_filtered(
  p_user_id text, p_agent_id text, p_memory_type text, p_search text, p_tags_all text[], p_row_limit int,
  p_row_offset int, p_as_of timestamptz, p_include_superseded boolean, p_thread_id text, p_filter jsonb,
  p_created_after timestamptz, p_created_before timestamptz, p_include_quarantined boolean
)
returns setof memory.memory
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan
set enable_seqscan = on
as $$
begin
  -- The inner query counts and sorts only ids and times; whole rows of 100,000 memories would take three times as long.
  return query
  with found as materialized (
    select l.memory_id, l.created_at
    from memory._listed_memories(
      p_user_id, p_agent_id, p_memory_type, p_search, p_tags_all, p_as_of, p_include_superseded, p_thread_id, p_filter,
      p_created_after, p_created_before, p_include_quarantined) as l
  )
  select r.*
  from (select f.*, (select count(*) from found) as total
        from found as f order by f.created_at desc, f.memory_id desc limit p_row_limit offset p_row_offset) as p
  join memory.memories as m on m.user_id = p_user_id and m.memory_id = p.memory_id
  cross join lateral memory._memory_result(m, p.total) as r
  order by p.created_at desc, p.memory_id desc;
end;
$$;

-- The same of the user and of spaces (p_spaces, as memory._spaces_to_read() returns them). A thread_id is that of a
-- thread of the user, so nothing of a space passes it.
create or replace function memory._list_with_spaces(
  p_user_id text, p_spaces text[], p_agent_id text, p_memory_type text, p_search text, p_tags_all text[],
  p_row_limit int, p_row_offset int, p_as_of timestamptz, p_include_superseded boolean, p_thread_id text,
  p_filter jsonb, p_created_after timestamptz, p_created_before timestamptz, p_include_quarantined boolean
)
returns setof memory.memory
language plpgsql stable parallel safe
set plan_cache_mode = force_custom_plan
as $$
begin
  return query
  with found as materialized (
    select o.user_id, l.memory_id, l.created_at
    from unnest(p_user_id || p_spaces) as o (user_id)
    cross join lateral memory._listed_memories(
      o.user_id, p_agent_id, p_memory_type, p_search, p_tags_all, p_as_of, p_include_superseded, p_thread_id, p_filter,
      p_created_after, p_created_before, p_include_quarantined) as l
    where p_thread_id is null or o.user_id = p_user_id
  )
  select r.*
  from (select f.*, (select count(*) from found) as total
        from found as f order by f.created_at desc, f.memory_id desc limit p_row_limit offset p_row_offset) as p
  join memory.memories as m on m.user_id = p.user_id and m.memory_id = p.memory_id
  cross join lateral memory._memory_result(m, p.total) as r
  order by p.created_at desc, p.memory_id desc;
end;
$$;
