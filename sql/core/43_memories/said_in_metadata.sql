-- Applications that store memories as JSON keep tags, confidence and importance in the metadata, but search, lists and
-- the limit read columns. So memory.add_memory() and memory.update_memory() take arguments that the caller leaves out
-- from the metadata, and store the metadata unchanged. Triggers do not do so, because a statement that inserts a row or
-- restores an earlier version names its columns.

-- The tags, confidence and importance that metadata gives. Each is null in two cases: the metadata has no value that
-- the column can hold (a confidence of "high" or 95, a number among the tags), or p_before, the metadata before the
-- change, had the same value, because the column may have changed since.
create or replace function memory._said_in_metadata(
  p_metadata jsonb, p_before jsonb,
  out tags text[], out confidence double precision, out importance double precision
)
language plpgsql immutable parallel safe
as $$
declare
  said constant jsonb := case when jsonb_typeof(p_metadata) = 'object' then p_metadata - array(
    select k from unnest(array['tags', 'confidence', 'importance']) as k where p_metadata -> k = p_before -> k) end;
begin
  -- A comparison with two numbers lets only numbers pass, because jsonb sorts each type apart from the others.
  confidence := case when said -> 'confidence' between '0' and '1' then memory._share(said ->> 'confidence') end;
  importance := case when said -> 'importance' between '0' and '1' then memory._share(said ->> 'importance') end;
  if jsonb_typeof(said -> 'tags') = 'array' then
    if not jsonb_path_exists(said -> 'tags', 'strict $[*] ? (@.type() != "string")') then
      tags := memory._texts(said -> 'tags');
      tags := case when memory._list_problem(tags) is null then tags end;
    end if;
  end if;
end;
$$;

-- The arguments of memory.add_memory(). Those that the caller left out come from the metadata, or are the defaults.
create or replace function memory._with_defaults(p_memory memory.new_memory)
returns memory.new_memory
language plpgsql immutable parallel safe
as $$
declare
  said record;
begin
  p_memory.metadata := coalesce(p_memory.metadata, '{}');
  said := memory._said_in_metadata(p_memory.metadata, null);
  if coalesce(p_memory.tags, '{}') = '{}' then
    p_memory.tags := coalesce(said.tags, '{}');
  end if;
  if p_memory.confidence = 1.0 then -- 1.0 is the default, which a function cannot tell from a caller's 1.0
    p_memory.confidence := coalesce(said.confidence, 1.0);
  end if;
  p_memory.importance := coalesce(p_memory.importance, said.importance, memory._default_importance());
  return p_memory;
end;
$$;
