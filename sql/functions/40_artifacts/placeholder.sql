-- The placeholder of an artifact, which a conversation holds in place of the content; null for no artifact.
create or replace function memory._memory_ref(p_key text, p_description text, p_token_count int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when p_key is not null
    then format('[MemoryRef: %s - %s - %s tokens]', p_key, p_description, p_token_count) end;
end;
$$;

-- The key in what names an artifact: a placeholder, its short form [MemoryRef: <key>], or the key itself. Nothing else
-- is made equal: a key has no letters that look alike, so a text with such letters names no artifact.
create or replace function memory._ref_key(p_ref text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(
    substring(left(p_ref, 1000) from e'^\\s*\\[MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - .*)?\\]\\s*$'), p_ref);
end;
$$;

-- A new key: up to 40 characters of the description (or type) and six random hexadecimal digits, of which there are 16
-- million. memory.store_artifact() makes another key when this one is taken.
create or replace function memory._artifact_key(p_description text, p_artifact_type text)
returns text
language plpgsql volatile parallel safe
as $$
begin
  return s.slug || '-' || left(gen_random_uuid()::text, 6)
  from unnest(array[p_description, p_artifact_type, 'artifact']) with ordinality as t (said, place)
  cross join lateral btrim(left(regexp_replace(lower(t.said), '[^a-z0-9]+', '-', 'g'), 40), '-') as s (slug)
  where s.slug <> ''
  order by t.place
  limit 1;
end;
$$;
