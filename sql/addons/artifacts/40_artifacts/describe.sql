-- Makes descriptions by rule, as a person would after a short look at the text. If a text has more than 256 KiB, only
-- its first and last 64 KiB are read, and numbers of lines are estimated: counting the lines of 10 MB would take a
-- third of the time of storing them.

-- The description of an artifact that was stored without one, such as "npm install, added 512 packages in 9s, 2
-- warnings": the command (metadata.command) or the tool (metadata.tool), its exit status if it failed, and the kind of
-- the text. At most 200 characters.
create or replace function memory._describe(p_artifact_type text, p_content text, p_metadata jsonb)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  head constant text := left(p_content, 32768);
  size constant int := octet_length(p_content);
  is_sample constant boolean := size > 262144;
  sample constant text := case when is_sample
    then left(p_content, 65536) || e'\n' || memory._byte_slice(p_content, size - 65536, size) else p_content end;
  tail constant text := right(sample, 16384);
  lines constant int := case when is_sample
    then memory._line_breaks(sample)::bigint * size / octet_length(sample)
    else memory._line_breaks(p_content) + case when tail ~ e'\n\\s*$' then 0 else 1 end end;
  -- The command or the tool that the description begins with; null for an artifact that has neither.
  subject constant text := memory._in_short(memory._placeholder_text(left(coalesce(
    case jsonb_typeof(p_metadata -> 'command') when 'string' then p_metadata ->> 'command' end,
    case jsonb_typeof(p_metadata -> 'tool') when 'string' then p_metadata ->> 'tool' end), 1000)), 100);
  status constant text := p_metadata ->> 'exit_status';
  what text;
begin
  what := coalesce(
    memory._describe_binary(head, size),
    memory._describe_json(p_content, size, lines, is_sample),
    memory._describe_page(head),
    memory._describe_diff(head, sample),
    memory._describe_tests(sample, tail),
    memory._describe_table(head, lines, is_sample),
    memory._describe_log(
      sample, tail, lines, is_sample, subject is not null and p_metadata -> 'command' is not null,
      subject is not null));
  return memory._in_short(memory._placeholder_text(concat_ws(', ',
    coalesce(subject, case when what is null then p_artifact_type end),
    case when status ~ '^[1-9][0-9]{0,5}$' then 'failed with ' || status end,
    coalesce(what, memory._said_count(lines, 'line', is_sample)))), 200);
end;
$$;

-- At most p_length characters of a text, with marks in place of credentials, which are not recognised any more once
-- they are cut.
create or replace function memory._in_short(p_said text, p_length int)
returns text
language plpgsql immutable parallel safe
as $$
begin
  p_said := memory._without_credentials(p_said);
  return case when length(p_said) > p_length then rtrim(left(p_said, p_length - 3)) || '...' else p_said end;
end;
$$;

-- A number of things, such as "1 row", "2,512 rows" or, if it is estimated, "about 2,500 rows".
create or replace function memory._said_count(p_count bigint, p_thing text, p_is_estimate boolean default false)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if p_is_estimate and p_count >= 10 then
    p_count := round(p_count, 2 - length(p_count::text));
  end if;
  return case when p_is_estimate then 'about ' else '' end
    || btrim(to_char(p_count, 'FM999,999,999,999')) || ' ' || p_thing || case when p_count = 1 then '' else 's' end;
end;
$$;

-- A size, such as "34 kB".
create or replace function memory._said_bytes(p_bytes bigint)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case
    when p_bytes < 1000 then p_bytes || ' bytes'
    when p_bytes < 1000000 then round(p_bytes / 1000.0) || ' kB'
    else round(p_bytes / 1000000.0, 1) || ' MB' end;
end;
$$;

-- Text that stands for bytes (base64, hexadecimal digits), and bytes that were read as text.
create or replace function memory._describe_binary(p_head text, p_size int)
returns text
language plpgsql immutable parallel safe
as $$
declare
  start text := left(p_head, 4096);
  kind text := substring(start from '^\s*data:([a-zA-Z0-9.+-]+/[a-zA-Z0-9.+-]+)[^,]*;base64,');
  digits text;
begin
  if kind is not null then
    return format('%s in base64, %s', kind, memory._said_bytes(p_size * 3::bigint / 4));
  end if;
  -- Replaced and control characters are a tenth of it: these were bytes.
  if length(start) < 10 * (length(start) - length(
    regexp_replace(start, e'[\\ufffd\\u0001-\\u0008\\u000e-\\u001a\\u001c-\\u001f\\u007f]', '', 'g'))) then
    return format('%s, %s', case when start ~ e'^.?PNG' then 'PNG image' when start ~ '^%PDF' then 'PDF'
                              when start ~ '^PK' then 'ZIP archive' when start ~ '^.?ELF' then 'program'
                              else 'binary data' end || ' read as text', memory._said_bytes(p_size));
  end if;
  digits := regexp_replace(start, e'[\\r\\n]', '', 'g');
  if length(digits) < 200 or digits ~ e'\\s' or start ~ e'^[^\\n]{0,50}\\n' then
    return null;
  elsif digits ~ '^[0-9a-fA-F]+$' then
    return format('hexadecimal digits of %s', memory._said_bytes(p_size / 2));
  elsif digits ~ '^[A-Za-z0-9+/_-]+={0,2}$' and digits ~ '[A-Z]' and digits ~ '[a-z]' and digits ~ '[0-9]' then
    digits := translate(digits, '-_', '+/'); -- the alphabet for addresses
    kind := case
      when digits ~ '^iVBORw0KGg' then 'PNG image' when digits ~ '^/9j/' then 'JPEG image'
      when digits ~ '^R0lGOD' then 'GIF image' when digits ~ '^UklGR.{7}QVZF' then 'WAV sound'
      when digits ~ '^UklGR' then 'WebP image' when digits ~ '^(SUQz|//[tuv])' then 'MP3 sound'
      when digits ~ '^JVBERi0' then 'PDF' when digits ~ '^UEsDB' then 'ZIP archive'
      when digits ~ '^H4sI' then 'gzip file' else 'data' end;
    return format('%s in base64, %s', kind, memory._said_bytes(p_size * 3::bigint / 4));
  end if;
  return null;
end;
$$;

-- The text as one line for a placeholder, or null when no character is left. The function removes control sequences of
-- terminals (colours and titles) and invisible characters. It replaces line breaks and other control characters with
-- blanks, and square brackets with round ones, because a closing square bracket would end the placeholder.
create or replace function memory._placeholder_text(p_said text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  terminal constant text := e'\\u001b(?:\\[[0-9;?]*[A-Za-z]|\\][^\\u0007\\u001b]*(?:\\u0007|\\u001b\\\\))';
  invisible constant text := e'[\\u00ad\\u061c\\u200b\\u200e\\u200f\\u202a-\\u202e\\u2060-\\u2069\\ufeff'
    || e'\\U000e0000-\\U000e007f]';
  blank constant text := e'[\\s\\u0001-\\u001f\\u007f-\\u00a0\\u2028\\u2029]+';
begin
  p_said := regexp_replace(regexp_replace(p_said, terminal, '', 'g'), invisible, '', 'g');
  p_said := regexp_replace(translate(p_said, '[]', '()'), blank, ' ', 'g');
  return nullif(memory._harmless(btrim(p_said)), '');
end;
$$;
