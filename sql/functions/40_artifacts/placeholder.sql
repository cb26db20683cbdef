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

-- The description of an artifact that was stored without one: the command whose output it is (metadata.command) with
-- the number of lines, the keys of a JSON text, or the first line with a letter or digit, else the type and the number
-- of lines. At most 100 characters before the number of lines.
create or replace function memory._describe(p_artifact_type text, p_content text, p_metadata jsonb)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  command constant text := memory._placeholder_text(
    case jsonb_typeof(p_metadata -> 'command') when 'string' then left(p_metadata ->> 'command', 1000) end);
  described text := command;
  line_count int;
begin
  if command is null and left(p_content, 1000) ~ e'^\\s*[[{]' then
    described := memory._placeholder_text(left(memory._describe_json(p_content), 1000));
  end if;
  if described is null then
    select l.said into described
    from regexp_split_to_table(left(p_content, 10000), e'[\\n\\r]') with ordinality as r (line, place)
    cross join lateral memory._placeholder_text(left(r.line, 1000)) as l (said)
    where l.said ~ e'[^ !-/:-@\\[-`{-~\\u2500-\\u259f]' -- more than punctuation and the lines of a table
    order by r.place
    limit 1;
  end if;
  if length(described) > 100 then
    described := rtrim(left(described, 97)) || '...';
  end if;
  if command is not null or described is null then
    p_content := rtrim(p_content, e'\n');
    line_count := 1 + octet_length(p_content) - octet_length(replace(p_content, e'\n', ''));
    described := format('%s, %s %s', coalesce(described, memory._placeholder_text(p_artifact_type), 'text'),
      line_count, case line_count when 1 then 'line' else 'lines' end);
  end if;
  return described;
end;
$$;

-- The first ten keys of a JSON object, or of the first object of a JSON array. Null when the text is not valid JSON.
create or replace function memory._describe_json(p_content text)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  value json;
  described text := 'JSON object';
  keys text;
begin
  value := p_content::json;
  if json_typeof(value) = 'array' then
    described := format('JSON array of %s', json_array_length(value));
    value := value -> 0;
  end if;
  if json_typeof(value) = 'object' then
    select string_agg(k.key, ', ') into keys
    from (select o.key from json_object_keys(value) as o (key) limit 10) as k;
  end if;
  return concat_ws(': ', described, keys);
exception when data_exception or program_limit_exceeded then
  return null;
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
