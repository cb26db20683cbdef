-- Whether somebody stated a memory, or a model drew it from a conversation. Stated memories are evicted last, and the
-- word of a model alone never changes them.

-- Whether a memory of this source was stated. The column is_stated has the result.
create or replace function memory._states(p_source text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_source not in ('extraction', 'reconciliation', 'thread_summary');
end;

-- Whether a memory counts as stated now: it was stated, or somebody has reworded it since. A memory that version 0.1
-- merged from others (source reconciliation) has a text of the model's own. It counts as stated if one of the memories
-- that it was merged from was, or if they are all gone, because then nobody can tell.
create or replace function memory._is_stated(p_candidate memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  if p_candidate.source = 'reconciliation' then
    return (
      with recursive origin as (
        select p_candidate.memory_id, p_candidate.source, p_candidate.metadata
        union
        select m.memory_id, m.source, m.metadata
        from memory.memories as m
        join origin as o on o.source = 'reconciliation' and o.metadata -> 'merged_from' ? m.memory_id::text
        where m.user_id = p_candidate.user_id
      )
      select coalesce(bool_or(o.source <> 'extraction'), true) from origin as o where o.source <> 'reconciliation');
  end if;
  return p_candidate.is_stated or memory._reworded_at(p_candidate) is not null;
end;
$$;

-- When the content of a memory was last changed; null if never. No model changes the content of a memory, so somebody
-- did.
create or replace function memory._reworded_at(p_candidate memory.memories)
returns timestamptz
language plpgsql stable parallel safe
as $$
begin
  return max(h.changed_at) filter (where h.content <> h.before)
  from (
    select v.changed_at, v.content, lag(v.content) over (order by v.version) as before
    from (
      select o.version, o.changed_at, o.content
      from memory.memory_history as o
      where o.user_id = p_candidate.user_id and o.memory_id = p_candidate.memory_id
      union all
      select p_candidate.version, p_candidate.updated_at, p_candidate.content) as v) as h;
end;
$$;
