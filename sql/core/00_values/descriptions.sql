-- What texts and files are, in a few words on one line.

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

-- Describes text that stands for bytes (base64, hexadecimal digits), and bytes that were read as text.
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
  -- If a tenth of the beginning is replaced and control characters, it was bytes and no text.
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
    digits := translate(digits, '-_', '+/'); -- the alphabet of base64 in URLs
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

-- The greatest number of bytes of a file in a message, and of a long text that is kept whole.
create or replace function memory._max_file_bytes()
returns int
language sql immutable parallel safe
begin atomic
  select 209715200; -- 200 MiB
end;
