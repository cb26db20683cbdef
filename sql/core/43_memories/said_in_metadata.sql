-- The attributes of a memory that its metadata gives. Applications that store memories as JSON keep tags, confidence
-- and importance in the metadata, but search, lists and the limit read columns. So memory.add_memory() and
-- memory.update_memory() take arguments that the caller leaves out from the metadata, and store the metadata unchanged.
-- Metadata may be any JSON: a value that the column cannot hold (a confidence of "high" or 95, a number among the tags)
-- is metadata like any other. Triggers do not read attributes from metadata: a statement that inserts a row or restores
-- an earlier version names its columns.

-- Whether metadata has an attribute of its memory.
create or replace function memory._has_memory_attributes(p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_metadata ?| array['tags', 'confidence', 'importance'];
end;

-- The number from 0 to 1 under this key. The result is null when the key has no such number, or when p_before, the
-- metadata before the change, had the same number: the column may have changed since. Only numbers lie between two
-- numbers, because jsonb sorts each type apart from the others.
create or replace function memory._share_in(p_metadata jsonb, p_key text, p_before jsonb default null)
returns double precision
language plpgsql immutable parallel safe
as $$
begin
  return case
    when p_metadata -> p_key between jsonb '0' and jsonb '1'
      and p_metadata -> p_key is distinct from p_before -> p_key then memory._share(p_metadata ->> p_key)
  end;
end;
$$;

-- The tags under the key tags. The result is null when the key has no list of valid tags, or when p_before had the same
-- list.
create or replace function memory._tags_in(p_metadata jsonb, p_before jsonb default null)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  said constant jsonb := p_metadata -> 'tags';
  tags text[];
begin
  if jsonb_typeof(said) = 'array' and said is distinct from p_before -> 'tags' then
    if not jsonb_path_exists(said, 'strict $[*] ? (@.type() != "string")') then
      tags := memory._texts(said);
    end if;
  end if;
  return case when memory._list_problem(tags) is null then tags end;
end;
$$;

-- The arguments of memory.add_memory() with what the caller left out: from the metadata, or else the defaults.
create or replace function memory._with_defaults(p_memory memory.new_memory)
returns memory.new_memory
language plpgsql immutable parallel safe
as $$
declare
  said constant jsonb := coalesce(p_memory.metadata, '{}');
begin
  p_memory.metadata := said;
  if coalesce(p_memory.tags, '{}') = '{}' then
    p_memory.tags := coalesce(memory._tags_in(said), '{}');
  end if;
  if p_memory.confidence = 1.0 then -- a function cannot distinguish a default from the same argument of the caller
    p_memory.confidence := coalesce(memory._share_in(said, 'confidence'), 1.0);
  end if;
  p_memory.importance := coalesce(p_memory.importance, memory._share_in(said, 'importance'),
                                  memory._default_importance());
  return p_memory;
end;
$$;
