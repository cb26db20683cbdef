-- A memory is stated if a person or an application stated it, and extracted if a model drew it from a conversation. The
-- limit evicts stated memories last, and a model's decision alone never changes them.

-- Whether memories of this source are stated. The column is_stated has the result.
create or replace function memory._states(p_source text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_source not in ('extraction', 'thread_summary');
end;

-- Whether a memory counts as stated now: somebody stated it, or somebody has reworded it since it was extracted.
create or replace function memory._is_stated(p_candidate memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return p_candidate.is_stated or memory._is_reworded(p_candidate);
end;
$$;

-- Whether the content of a memory was ever changed. No model changes a content, so a person or an application did.
create or replace function memory._is_reworded(p_candidate memory.memories)
returns boolean
language plpgsql stable parallel safe
as $$
begin
  return exists (
    select from memory.memory_history as h
    where h.user_id = p_candidate.user_id and h.memory_id = p_candidate.memory_id
      and h.content <> p_candidate.content);
end;
$$;
