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
    list_memories.search,
                               list_memories.tags_all, list_memories.as_of, list_memories.include_superseded) as m
  order by m.created_at desc, m.memory_id desc
  limit row_limit offset row_offset;
end;
$$;
comment on function memory.list_memories(text, text, text, text, text[], int, int, timestamptz, boolean) is
'Memories of a user, newest first, filtered by agent, type, tags and text (anywhere in content or embedding_text, '
'ignoring case). total_count is the size of the whole match; a page past the end has no row to say it, '
'memory.count_memories() does. as_of shows what was known and true at that time; include_superseded adds what was '
'replaced. valid_to and expires_at are null for never.';

-- What a list and a count take.
create or replace function memory._check_listing(user_id text, agent_id text, memory_type text, search text,
  tags_all text[])
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  perform memory._check_id('agent_id', coalesce(agent_id, 'any'));
  perform memory._check_memory_types('memory_type', array_remove(array[memory_type], null));
  perform memory._check_list('tags_all', tags_all);
  -- A text is searched in one go that nothing can end: 128 KiB in a memory of 256 KiB took 10 s.
  if length(search) > 1000 then
    perform memory._refuse('search', format('has %s characters, at most 1000 are allowed', length(search)),
      'Pass a word or a sentence; memory.search() takes longer questions.', '54000');
  end if;
end;
$$;

-- What a reader may see. Without as_of: now. With as_of: what held then, going by valid_from (or the time of storing),
-- valid_to and the time of a later supersede.
-- Inlined by the planner, hence no SET clause.
create or replace function memory._visible_memories(user_id text, as_of timestamptz, include_superseded boolean)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory.memories as m
  where m.user_id = _visible_memories.user_id
    and m.deleted_at is null
    and (m.expires_at is null or m.expires_at > statement_timestamp())
    and case when _visible_memories.as_of is null
             then _visible_memories.include_superseded or m.superseded_at is null
             else coalesce(m.valid_from, m.created_at) <= _visible_memories.as_of
               and (m.valid_to is null or m.valid_to > _visible_memories.as_of)
               and (_visible_memories.include_superseded or m.superseded_at is null or m.superseded_at > _visible_memories.as_of)
        end;
end;

-- What a list or a search shows of it: what has ended only when asked for the past. Inlined by the planner, hence no SET clause.
create or replace function memory._shown_memories(user_id text, as_of timestamptz, include_superseded boolean)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.* from memory._visible_memories(_shown_memories.user_id, _shown_memories.as_of, _shown_memories.include_superseded) as m
  where m.valid_to is null or m.valid_to > statement_timestamp() or _shown_memories.as_of is not null or _shown_memories.include_superseded;
end;

-- What a list shows and a count counts. Inlined by the planner, hence no SET clause.
create or replace function memory._listed_memories(
  user_id text, agent_id text, memory_type text, search text, tags_all text[], as_of timestamptz,
    include_superseded boolean
)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory._shown_memories(_listed_memories.user_id, _listed_memories.as_of, _listed_memories.include_superseded)
    as m
  where (_listed_memories.agent_id is null or m.agent_id = _listed_memories.agent_id)
    and (_listed_memories.memory_type is null or m.memory_type = _listed_memories.memory_type)
    and (_listed_memories.tags_all is null or memory._comparable_tags(m.tags,
      _listed_memories.tags_all) @> _listed_memories.tags_all)
    and (_listed_memories.search is null
         or strpos(lower(m.content), lower(_listed_memories.search)) > 0
         or strpos(lower(m.embedding_text), lower(_listed_memories.search)) > 0);
end;

-- What a prompt may show, and a search without filters. The constants let the planner fold the CASE away, so that
-- memories_recent_idx serves it. Inlined by the planner, hence no SET clause.
create or replace function memory._valid_memories(user_id text, agent_id text)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.* from memory._shown_memories(_valid_memories.user_id, null, false) as m
  where _valid_memories.agent_id is null or m.agent_id = _valid_memories.agent_id;
end;

-- The moment after which _valid_memories() no longer has it unless it changes; -infinity if it is hidden already. Inlined by the planner, hence no SET clause.
create or replace function memory._valid_until(candidate memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when (candidate).superseded_at is null and (candidate).deleted_at is null
              then least((candidate).expires_at, (candidate).valid_to, 'infinity') else '-infinity' end;
end;
