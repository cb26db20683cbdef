-- What metadata says about its memory. Applications that store memories as JSON keep tags, confidence and importance
-- in the metadata, but search, lists and the limit read columns. So memory.add_memory() and memory.update_memory() take
-- from the metadata what the caller leaves out, and store the metadata unchanged. Metadata may be any JSON: a value
-- that the column cannot hold (a confidence of "high" or 95, a number among the tags) is metadata like any other.
-- Triggers do not do this: whoever inserts a row or restores an earlier version names its columns.

-- Whether metadata has an attribute of its memory.
create or replace function memory._has_memory_attributes(p_metadata jsonb)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_metadata ?| array['tags', 'confidence', 'importance'];
end;

-- The number from 0 to 1 under this key. Null when there is none, or when p_before, the metadata that this metadata
-- replaces, had the same: the column may have been changed since. Only numbers are between two numbers, because jsonb
-- sorts each type apart from the others.
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

-- The tags under the key tags. Null when there is no list of texts that tags can be, or when p_before had the same.
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
