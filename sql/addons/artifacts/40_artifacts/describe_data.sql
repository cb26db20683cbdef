-- Descriptions of JSON, tables, web pages and diffs.

-- Describes JSON by its first ten keys, and the lists among them by their lengths: "JSON object: items (30), total". A
-- list is described by the keys of its first object. JSON of more than 2 MiB, which takes too long to parse, and JSON
-- that was cut off are described by the keys at the beginning. The result is null for a text that is not JSON, and for
-- a short text that is nearly JSON, which needs no description.
create or replace function memory._describe_json(p_content text, p_size int, p_lines int, p_is_sample boolean)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  value json;
  described text := 'JSON object';
  keys text;
begin
  if left(p_content, 1000) !~ e'^\\s*(?:\\{\\s*["}]|\\[\\s*[]\\[{"0-9tfn-])' then
    return null;
  elsif p_size > 2097152 then
    return coalesce(memory._describe_json_lines(left(p_content, 32768), p_lines, p_is_sample),
                    memory._describe_json_start(left(p_content, 20000), p_size));
  end if;
  value := p_content::json;
  if json_typeof(value) = 'array' then
    described := format('JSON array of %s', json_array_length(value));
    value := value -> 0;
  end if;
  if json_typeof(value) = 'object' then
    select string_agg(k.key || case when json_typeof(k.value) = 'array'
                        then format(' (%s)', json_array_length(k.value)) else '' end, ', ') into keys
    from (select o.key, o.value from json_each(value) as o limit 10) as k;
  end if;
  return concat_ws(': ', described, memory._in_short(keys, 87));
exception when data_exception or program_limit_exceeded then
  return coalesce(
    memory._describe_json_lines(left(p_content, 32768), p_lines, p_is_sample),
    case when p_size > 1000 and p_content ~ e'^\\s*(?:\\{|\\[\\s*\\{)\\s*"[^"\\n]*"\\s*:'
      then 'broken ' || memory._describe_json_start(left(p_content, 20000), p_size) end);
end;
$$;

-- Describes JSON that is too long to be parsed.
create or replace function memory._describe_json_start(p_start text, p_size int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return concat_ws(': ', format('JSON of %s', memory._said_bytes(p_size)), (
    select string_agg(k.key, ', ' order by k.place)
    from (select m.key[1] as key, min(m.place) as place
          from regexp_matches(p_start, e'"([^"\\\\\\n]{1,60})"\\s*:', 'g') with ordinality as m (key, place)
          group by 1 order by 2 limit 10) as k));
end;
$$;

-- Describes lines of which each is a JSON object, as in logs and exports. The function reads the first two lines.
create or replace function memory._describe_json_lines(p_head text, p_lines int, p_is_sample boolean)
returns text
language plpgsql immutable parallel unsafe
as $$
declare
  lines constant text[] := regexp_split_to_array(ltrim(p_head), e'\\r?\\n');
begin
  if not (lines[1] ~ '^\{' and lines[2] ~ '^\{') then
    return null;
  end if;
  perform lines[2]::json;
  return format('JSON lines, %s: %s', memory._said_count(p_lines, 'object', p_is_sample),
    (select string_agg(k.key, ', ')
     from (select o.key from json_object_keys(lines[1]::json) as o (key) limit 10) as k));
exception when data_exception then
  return null;
end;
$$;

-- Describes a table: "CSV, 1,200 rows: id, name, email". A text is a table if each of its first six lines has as many
-- separators outside of quotes as the first line. The first line names the columns if it has no empty column and hardly
-- a number.
create or replace function memory._describe_table(p_head text, p_lines int, p_is_sample boolean)
returns text
language plpgsql immutable parallel safe
as $$
declare
  lines constant text[] := array(
    select regexp_replace(l.line, '"[^"]*"', '"', 'g')
    from regexp_split_to_table(p_head, e'\\r?\\n') as l (line) limit 6);
  first constant text := split_part(p_head, e'\n', 1);
  separator text;
  columns text[];
begin
  foreach separator in array array[',', e'\t', ';', '|'] loop
    columns := string_to_array(rtrim(first, e'\r'), separator);
    continue when cardinality(columns) < 2 or cardinality(columns) > 500 or cardinality(lines) < 3
      or length(first) > 2000 or '' = any (columns);
    continue when exists (
      select from unnest(lines) with ordinality as l (line, place)
      where l.place < cardinality(lines)
        and cardinality(string_to_array(l.line, separator)) <> cardinality(string_to_array(lines[1], separator)));
    -- Lines that are sentences with a comma each are no table.
    continue when length(first) > 60 * cardinality(columns) or first ~ e'[.!?]\\s*$'
      or (select count(*) from unnest(columns) as c (said)
          where c.said ~ e'^\\s*"?-?[0-9.]+"?\\s*$' or length(c.said) > 60) > cardinality(columns) / 2;
    return format('%s, %s: %s',
      case separator when ',' then 'CSV' when e'\t' then 'TSV' else 'table' end,
      memory._said_count(p_lines - 1, 'row', p_is_sample),
      memory._in_short((select string_agg(btrim(c.said, ' "'), ', ' order by c.place)
                        from unnest(columns[:12]) with ordinality as c (said, place)), 120)
      || case when cardinality(columns) > 12 then format(' and %s more', cardinality(columns) - 12) else '' end);
  end loop;
  return null;
end;
$$;

-- Describes a web page by its title, or XML by its outermost element.
create or replace function memory._describe_page(p_head text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  start constant text := left(p_head, 2000);
  name text;
begin
  if start ~* e'^\\s*(?:<\\?xml[^>]*>\\s*)?(?:<!-{2}.*?-{2}>\\s*)?<(?:!doctype html|html|head|body)[\\s>]' then
    name := memory._in_short(btrim(regexp_replace(
      substring(p_head from '<[tT][iI][tT][lL][eE][^>]*>([^<]*)<'), e'\\s+', ' ', 'g')), 100);
    return 'web page' || coalesce(' "' || replace(replace(replace(replace(replace(nullif(name, ''),
      '&quot;', '"'), '&#39;', ''''), '&lt;', '<'), '&gt;', '>'), '&amp;', '&') || '"', '');
  elsif start ~ e'^\\s*<\\?xml' then
    return 'XML' || coalesce(': ' || substring(start from e'<([A-Za-z_][A-Za-z0-9_.:-]*)'), '');
  end if;
  return null;
end;
$$;

-- Describes a diff: "diff of 3 files (+120 -34): src/app.py, ...".
create or replace function memory._describe_diff(p_head text, p_sample text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  files text[];
begin
  if p_head !~ e'(?:^|\\n)(?:diff --git |-{3} [^\\n]+\\n\\+\\+\\+ [^\\n]+\\n@@ )' then
    return null;
  end if;
  files := array(
    select regexp_replace(coalesce(nullif(m.names[2], '/dev/null'), m.names[1]), '^[ab]/', '')
    from regexp_matches(p_sample, e'(?:^|\\n)-{3} ([^\\t\\n]+)[^\\n]*\\n\\+\\+\\+ ([^\\t\\n]+)', 'g') as m (names)
    limit 10000);
  return format('diff of %s (+%s -%s)%s', memory._said_count(greatest(
      cardinality(files), regexp_count(p_sample, e'(?:^|\\n)diff --git ')), 'file'),
    regexp_count(p_sample, e'\\n\\+') - cardinality(files), regexp_count(p_sample, e'\\n-') - cardinality(files)
      + case when p_sample ~ '^-{3} ' then 1 else 0 end,
    ': ' || memory._in_short(
      nullif(array_to_string(files[:5] || case when cardinality(files) > 5 then '...' end, ', '), ''), 100));
end;
$$;
