-- A memory is stated if a person or an application stated it, and extracted if a model drew it from a conversation. The
-- limit evicts stated memories last, and a model's decision alone never changes them.

-- Whether memories of this source are stated. The column is_stated has the result.
create or replace function memory._states(p_source text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_source not in ('extraction', 'thread_summary');
end;

-- Whether a memory counts as stated now: somebody stated it, or has reworded it since.
create or replace function memory._is_stated(p_candidate memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return p_candidate.is_stated or memory._reworded_at(p_candidate) is not null;
end;
$$;

-- The time of the last change of a memory's content; null if the content never changed. No model changes the content of
-- a memory, so a person or an application made the change.
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
