-- Decides which memories a reader sees. Each of these rules stands only here. The planner inlines them.

-- Whether a memory is neither superseded nor deleted. The partial indexes of memory.memories have this condition.
create or replace function memory._is_current(p_memory memory.memories)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_memory).superseded_at is null and (p_memory).deleted_at is null;
end;

-- Whether a memory is current, superseded or in quarantine, and not deleted.
create or replace function memory._is_undeleted(p_memory memory.memories)
returns boolean
language sql immutable parallel safe
begin atomic
  select (p_memory).deleted_at is null or (p_memory).quarantined_at is not null;
end;

-- Whether a caller can name a memory by its id: it is current, superseded or in quarantine, and has not expired.
create or replace function memory._is_there(p_memory memory.memories)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._is_undeleted(p_memory) and memory._is_unexpired((p_memory).expires_at);
end;

-- Whether a memory is current and has not expired. Jobs compare such memories, also those whose valid_to has passed.
create or replace function memory._is_visible(p_memory memory.memories)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._is_current(p_memory) and memory._is_unexpired((p_memory).expires_at);
end;

-- Whether a memory is visible and holds now. Prompts, and lists and searches without as_of, show only such memories.
create or replace function memory._is_valid(p_memory memory.memories)
returns boolean
language sql stable parallel safe
begin atomic
  select memory._is_visible(p_memory)
    and ((p_memory).valid_to is null or (p_memory).valid_to > statement_timestamp());
end;

-- Whether lists and searches show a memory. Without p_as_of they show memories that hold now, and with
-- p_include_superseded all that are not deleted. With p_as_of they show memories that held at that time, from
-- valid_from (or created_at) to valid_to. An ended or replaced memory held until its valid_to, and a memory that an
-- article superseded held until the article did so. Duplicates and corrected memories appear only with
-- p_include_superseded.
create or replace function memory._is_shown(
  p_memory memory.memories, p_as_of timestamptz, p_include_superseded boolean
)
returns boolean
language sql stable parallel safe
begin atomic
  select case
    when p_as_of is null and p_include_superseded is not true then memory._is_valid(p_memory)
    else (p_memory).deleted_at is null and memory._is_unexpired((p_memory).expires_at)
      and (p_as_of is null or coalesce((p_memory).valid_from, (p_memory).created_at) <= p_as_of
        and (p_as_of < coalesce((p_memory).valid_to, case when p_include_superseded is not true
                                                       then (p_memory).superseded_at end)) is not false
        and (p_include_superseded or memory._state(p_memory) in ('current', 'ended', 'replaced')))
  end;
end;

-- The memories that list_memories() returns and count_memories() counts, under the filters of these functions. With
-- p_include_quarantined the result also has memories in quarantine.
create or replace function memory._listed_memories(
  p_user_id text, p_agent_id text, p_memory_type text, p_search text, p_tags_all text[], p_as_of timestamptz,
  p_include_superseded boolean, p_thread_id text, p_filter jsonb, p_created_after timestamptz,
  p_created_before timestamptz, p_include_quarantined boolean, p_subject text, p_attribute text
)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from (
    select s.* from memory.memories as s
    where s.user_id = p_user_id and memory._is_shown(s, p_as_of, p_include_superseded)
    union all
    select q.* from memory.memories as q
    where p_include_quarantined and q.user_id = p_user_id and q.quarantined_at is not null
      and memory._is_unexpired(q.expires_at)
  ) as m
  where (p_agent_id is null or m.agent_id = p_agent_id)
    and (p_thread_id is null or m.thread_id = p_thread_id)
    and (p_memory_type is null or m.memory_type = p_memory_type)
    and (p_created_after is null or m.created_at > p_created_after)
    and (p_created_before is null or m.created_at < p_created_before)
    and (p_tags_all is null or m.tags @> p_tags_all)
    and (p_filter is null or m.metadata @> p_filter)
    and (p_subject is null or memory._subject(m.subject) = memory._plainly_spelled(p_subject))
    and (p_attribute is null or lower(m.attribute) = lower(p_attribute))
    and (p_search is null
      or strpos(lower(m.content), lower(p_search)) > 0
      or strpos(lower(m.embedding_text), lower(p_search)) > 0);
end;

-- The last moment at which a memory is valid (memory._is_valid()) if nothing changes it; -infinity if it is hidden now.
create or replace function memory._valid_until(p_memory memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case
    when memory._is_current(p_memory) then least((p_memory).expires_at, (p_memory).valid_to, 'infinity')
    else '-infinity'
  end;
end;

-- Whether a memory is not hidden, or only because it awaits a review (policy extraction.review).
create or replace function memory._is_shown_or_waits(p_deleted_at timestamptz, p_quarantine_reason text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_deleted_at is null or p_quarantine_reason = 'review';
end;
