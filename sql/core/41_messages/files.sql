-- Pictures, sounds and other files in base64 among the parts of a message. Their data is stored once, in
-- memory.messages.files, and a tag such as [File 1: image/png in base64, 34 kB, 1105 tokens] takes its place in the
-- metadata. So the data does not count for the limit of metadata, and masks and searches in the metadata do not read
-- it. A reader of the message gets the metadata as it was passed.

-- The members of metadata that are parts of what was said. Adapters of frameworks keep further parts of a message under
-- their names, such as other texts or thoughts.
create or replace function memory._said_members()
returns text[]
language sql immutable parallel safe
begin atomic
  select array['tool_calls', 'function_call', 'content', 'refusal', 'audio', 'images', 'parsed', 'reasoning',
    'reasoning_content', 'reasoning_details', 'ai_sdk', 'autogen', 'langchain', 'llama_index', 'openai_agents',
    'pydantic_ai'];
end;

-- The metadata with only the members of memory._said_members().
create or replace function memory._said_parts(p_metadata jsonb)
returns jsonb
language sql immutable parallel safe
begin atomic
  select coalesce(jsonb_object_agg(m.key, m.value), '{}')
  from jsonb_each(p_metadata) as m where m.key = any (memory._said_members());
end;

-- Returns two values to store for the metadata of a message. The first is the metadata with whole calls of tools and
-- with tags in place of the data of files. The second has the files, or is null. Data is the text behind
-- "data:...;base64,", or a text of at least 8 KiB that consists of characters of base64. p_which is added to the name
-- of the argument in an error; it is null for an update.
create or replace function memory._settled_metadata(p_metadata jsonb, p_which text default '')
returns jsonb[]
language plpgsql stable parallel safe
as $$
declare
  said jsonb;
  written text;
  files jsonb;
  file record;
  tag text;
  number int := 0;
  size bigint := 0;
begin
  if jsonb_typeof(p_metadata) is distinct from 'object' or not p_metadata ?| memory._said_members() then
    return array[p_metadata, null];
  end if;
  -- Skips calls that are whole, as nearly all are.
  if p_metadata ? 'tool_calls' and not p_metadata @@ '$.tool_calls.type() == "array"
    && !exists($.tool_calls[*] ? (!(@.id != "") || @.function.arguments.type() != "string"))' then
    p_metadata := p_metadata || jsonb_build_object(
      'tool_calls', memory._whole_calls(p_metadata -> 'tool_calls', p_which));
  end if;
  written := p_metadata::text;
  if octet_length(written) < 8192 and strpos(written, ';base64,') = 0 then
    return array[p_metadata, null];
  end if;
  said := memory._said_parts(p_metadata);
  for file in
    -- The longest data comes first: shorter data may be the end of it, and would otherwise be replaced within it.
    select d.data, k.description, to_json(d.data)::text as quoted, b.bytes, case
        when k.description ~ '^image/| image' then least(b.bytes / 4, 1105)
        when k.description ~ '^(audio|video)/| sound' then b.bytes / 500
        else memory._tokens_of_bytes(b.bytes) end as tokens
    from (
      select f.data, min(f.head) as head
      from (
        select case when t.start is not null then substr(t.value, length(t.start) + 1)
            when octet_length(t.value) >= 8192 and t.value !~ '[^A-Za-z0-9+/=_-]' then t.value end as data,
          -- Of equal data the text that begins with "data:" says more, and it is the greater one.
          left(t.value, 4096) as head
        from (
          select s.value #>> '{}' as value, substring(left(s.value #>> '{}', 255) from '^data:[^,]*;base64,') as start
          from jsonb_path_query(said, 'strict $.** ? (@.type() == "string")') as s (value) offset 0) as t
        offset 0) as f
      where length(f.data) >= 64
      group by f.data) as d
    cross join lateral (
      select coalesce(memory._describe_binary(d.head, octet_length(d.data)), 'file') as description) as k
    cross join lateral (select octet_length(d.data) * 3::bigint / 4 as bytes) as b
    order by b.bytes desc, d.data
  loop
    size := size + octet_length(file.data);
    loop
      number := number + 1;
      tag := format('[File %s: %s, %s tokens]', number, file.description, file.tokens);
      exit when strpos(written, tag) = 0;
    end loop;
    written := replace(replace(written, file.quoted, '"' || tag || '"'),
      ';base64,' || substr(file.quoted, 2), ';base64,' || tag || '"');
    files := coalesce(files, '{}') || jsonb_build_object(tag, file.data);
  end loop;
  if size > memory._max_file_bytes() then
    perform memory._refuse_size(concat('files', p_which), size::int, memory._max_file_bytes(),
      'Store larger files elsewhere and pass their addresses.');
  end if;
  return array[case when files is null then p_metadata else written::jsonb end, files];
end;
$$;

-- Calls of tools in the form that every provider takes: each has an id, and its arguments are a text. Ollama gives
-- neither. An update by plain SQL (p_which is null) may store something else under this name.
create or replace function memory._whole_calls(p_calls jsonb, p_which text)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  if jsonb_typeof(p_calls) <> 'array' or jsonb_path_exists(p_calls, 'strict $[*] ? (@.type() != "object")') then
    if p_which is null or jsonb_typeof(p_calls) = 'null' then
      return p_calls;
    end if;
    perform memory._refuse('tool_calls' || p_which, 'is not an array of objects',
      'Each call is like {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": "{}"}}.');
  end if;
  return (
    select coalesce(jsonb_agg(c.call
        || case when coalesce(c.call ->> 'id', '') = ''
             then jsonb_build_object('id', 'call_' || replace(gen_random_uuid()::text, '-', '')) else '{}' end
        || case when jsonb_typeof(c.call #> '{function,arguments}') <> 'string'
             then jsonb_build_object('function', (c.call -> 'function')
               || jsonb_build_object('arguments', (c.call #> '{function,arguments}')::text)) else '{}' end
        order by c.place), '[]')
    from jsonb_array_elements(p_calls) with ordinality as c (call, place));
end;
$$;

-- The metadata of a message with the data of its files. Callers call the function only for a message with files.
create or replace function memory._with_files(p_metadata jsonb, p_files jsonb)
returns jsonb
language plpgsql immutable parallel safe
as $$
declare
  written text := p_metadata::text;
  file record;
begin
  for file in select f.key, f.value from jsonb_each_text(p_files) as f loop
    written := replace(written, file.key || '"', substr(to_json(file.value)::text, 2));
  end loop;
  return written::jsonb;
end;
$$;

-- The approximate tokens of the pictures and files of a message. A model reads a picture, also one at an address, as at
-- most 1,105 tokens (OpenAI, high detail), and a second of sound as some tens. Of other files four bytes count as a
-- token. A recording of a model's own words does not count, because it is not sent again.
create or replace function memory._file_tokens(p_metadata jsonb)
returns int
language plpgsql immutable parallel safe
as $$
declare
  said jsonb;
  written text;
begin
  if not p_metadata - '{audio,tool_calls,function_call}'::text[] ?| memory._said_members() then
    return 0; -- most messages have none
  end if;
  said := memory._said_parts(p_metadata) - '{audio,tool_calls}'::text[];
  written := said::text;
  return least(2000000000, (
      select coalesce(sum(f.tag[2]::bigint), 0)
      from (select distinct regexp_matches(written, '\[File ([0-9]+: [^]]*), ([0-9]{1,9}) tokens\]', 'g') as tag
            where strpos(written, '[File ') > 0) as f)
    + 1105 * case when strpos(written, 'image') > 0 then (
      select count(distinct u.url)
      from jsonb_path_query(said, 'strict $.** ? (@.type like_regex "image" || @.kind like_regex "image"
        || @.block_type like_regex "image").** ? (@ starts with "http")') as u (url)) else 0 end)::int;
end;
$$;
