-- What a reader may see. Without as_of: now. With as_of: what held then, going by valid_from (or the time of storing),
-- valid_to and the time of a later supersede.
-- Inlined by the planner, hence no SET clause.
create or replace function memory._visible_memories(p_user_id text, p_as_of timestamptz, p_include_superseded boolean)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.*
  from memory.memories as m
  where m.user_id = p_user_id
    and m.deleted_at is null
    and (m.expires_at is null or m.expires_at > statement_timestamp())
    and case when p_as_of is null
             then p_include_superseded or m.superseded_at is null
             else coalesce(m.valid_from, m.created_at) <= p_as_of
               and (m.valid_to is null or m.valid_to > p_as_of)
               and (p_include_superseded or m.superseded_at is null or m.superseded_at > p_as_of)
        end;
end;

-- What a list or a search shows of it: what has ended only when asked for the past. Inlined by the planner, hence no SET clause.
create or replace function memory._shown_memories(p_user_id text, p_as_of timestamptz, p_include_superseded boolean)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.* from memory._visible_memories(p_user_id, p_as_of, p_include_superseded) as m
  where m.valid_to is null or m.valid_to > statement_timestamp() or p_as_of is not null or p_include_superseded;
end;

-- What a prompt may show, and a search without filters. The constants let the planner fold the CASE away, so that
-- memories_recent_idx serves it. Inlined by the planner, hence no SET clause.
create or replace function memory._valid_memories(p_user_id text, p_agent_id text)
returns setof memory.memories
language sql stable parallel safe
begin atomic
  select m.* from memory._shown_memories(p_user_id, null, false) as m
  where p_agent_id is null or m.agent_id = p_agent_id;
end;

-- The moment after which _valid_memories() no longer has it unless it changes; -infinity if it is hidden already. Inlined by the planner, hence no SET clause.
create or replace function memory._valid_until(p_candidate memory.memories)
returns timestamptz
language sql immutable parallel safe
begin atomic
  select case when (p_candidate).superseded_at is null and (p_candidate).deleted_at is null
              then least((p_candidate).expires_at, (p_candidate).valid_to, 'infinity') else '-infinity' end;
end;
