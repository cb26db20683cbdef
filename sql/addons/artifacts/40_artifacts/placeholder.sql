-- The placeholder of an artifact, which stands in a conversation in place of the content; null for no artifact.
create or replace function memory._memory_ref(p_key text, p_description text, p_token_count int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when p_key is not null
    then format('[MemoryRef: %s - %s - %s tokens]', p_key, p_description, p_token_count) end;
end;
$$;

-- The key in a reference to an artifact: a placeholder, its short form [MemoryRef: <key>], or the key itself. The
-- function does not replace letters that only look like those of a key: a text with such letters names no artifact.
create or replace function memory._ref_key(p_ref text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return coalesce(
    substring(left(p_ref, 1000) from e'^\\s*\\[MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - .*)?\\]\\s*$'), p_ref);
end;
$$;

-- The keys that a text names in placeholders. Placeholders whose bracket memory._harmless() has made round count too.
create or replace function memory._named_keys(p_content text)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select distinct m.groups[1]
    from regexp_matches(p_content, e'[[(]MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - |\\])', 'g') as m (groups));
end;
$$;

-- The text with the placeholders of the user's own artifacts restored. memory._harmless() has made the brackets of all
-- placeholders round. The descriptions are taken from the artifacts, so a forged description does not stay. The text
-- does not get longer: a placeholder that would be longer is given in its short form, or stays round. The placeholder
-- of an artifact that is held back is given in its short form, too.
create or replace function memory._with_own_refs(p_user_id text, p_content text)
returns text
language plpgsql stable parallel safe
as $$
declare
  found record;
begin
  if strpos(p_content, '(MemoryRef: ') = 0 then
    return p_content;
  end if;
  for found in
    select m.groups[1] as match, r.ref, format('[MemoryRef: %s]', a.key) as short
    from (select distinct r.groups
          from regexp_matches(p_content, e'(\\(MemoryRef: ([A-Za-z0-9._:/@#=+-]+)(?: - [^][]*)?\\])', 'g')
            as r (groups)) as m
    join memory._current_artifacts(p_user_id) as a on a.key = m.groups[2]
    cross join lateral (
      select case when not memory._is_held_back_artifact(p_user_id, a.key, '{}')
        then memory._memory_ref(a.key, a.description, a.token_count) end) as r (ref)
    limit 1000
  loop
    p_content := replace(p_content, found.match, case
      when octet_length(found.ref) <= octet_length(found.match) then found.ref
      when octet_length(found.short) <= octet_length(found.match) then found.short
      else found.match end);
  end loop;
  return p_content;
end;
$$;

-- A new key: up to 40 characters of the description (or type) and six random hexadecimal digits, which make 16 million
-- keys. memory.store_artifact() makes another key when this one is taken.
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
