-- The lines of a content that contain every word of a text, as grep prints them. Each line has its number. After the
-- number stands ":" if the line has the words, and "-" if it only surrounds such a line. "--" separates lines that do
-- not follow each other.
--
-- A word is a text between blanks. A line contains it if the word occurs anywhere in the line, also within a longer
-- word, in capitals or small letters. No character has a special meaning, as it would in a regular expression. A line
-- that is longer than a part (32 KiB; 3 KiB within the first 48) is compared and shown in pieces. Of a piece that is
-- longer than 400 characters, 400 are shown around the first word. Surrounding lines are read within 64 KiB.

-- p_from_line and p_max_lines bound the lines that are compared, p_max_tokens the result. If lines with the words are
-- left out, the last line says where to go on. Parts are read one after the other until the result is full.
create or replace function memory._grep_content(
  p_user_id text, p_content_id uuid, p_grep text, p_context_lines int, p_from_line int, p_max_lines int,
  p_max_tokens int
)
returns text
language plpgsql stable parallel safe
as $$
declare
  is_ascii constant boolean := octet_length(p_grep) = length(p_grep);
  -- One LIKE pattern for each word. It matches a text that contains the word.
  patterns constant text[] := array(
    select '%' || regexp_replace(memory._without_case(w.word, is_ascii), e'([\\\\%_])', e'\\\\\\1', 'g') || '%'
    from regexp_split_to_table(p_grep, e'\\s+') as w (word)
    where w.word <> '');
  from_line constant int := coalesce(p_from_line, 1);
  to_line constant bigint := coalesce(from_line + p_max_lines::bigint - 1, 2147483648);
  starts constant bigint := memory._line_start(p_user_id, p_content_id, from_line);
  bytes_left bigint := p_max_tokens * 4::bigint - 100; -- the rest is for the line that says where to go on
  gap constant text := e'\n' || repeat('-', 2) || e'\n';
  is_full boolean := false;
  part record;
  hit record;
  block text; -- a line with the words, and the surrounding lines that are not shown yet
  blocks text[] := array[]::text[];
  last_hit int := 0;
  shown_to int := 0; -- the last line that is shown
begin
  for part in
    select p.first_byte, p.first_line, p.content
    from memory.artifact_parts as p
    where p.user_id = p_user_id and p.content_id = p_content_id
      and p.first_byte > starts - 32768 and p.first_line < to_line
      and memory._without_case(p.content, is_ascii) like all (patterns)
    order by p.first_byte
  loop
    for hit in
      select part.first_line + l.place::int as line, l.said
      from string_to_table(part.content, e'\n') with ordinality as l (said, place)
      where part.first_line + l.place between from_line and to_line
        and memory._without_case(l.said, is_ascii) like all (patterns)
    loop
      if not is_full then
        block := case
          when hit.line = last_hit then e'\n' || memory._numbered_line(hit.line, hit.said, patterns, is_ascii)
          else case when blocks = '{}' then '' when hit.line - p_context_lines <= shown_to + 1 then e'\n'
                    else gap end
            || memory._lines_around(
                 p_user_id, p_content_id, part.first_byte, hit.line,
                 greatest(hit.line - p_context_lines, shown_to + 1), hit.line + p_context_lines::bigint, patterns,
                 is_ascii) end;
        is_full := coalesce(octet_length(block) > bytes_left, false);
        if not is_full or blocks = '{}' then
          -- The first line with the words is always shown, without its surrounding lines if they do not fit.
          blocks := blocks || case when is_full then memory._numbered_line(hit.line, hit.said, patterns, is_ascii)
                              else coalesce(block, '') end;
          bytes_left := bytes_left - octet_length(coalesce(block, ''));
          shown_to := case when is_full then hit.line else greatest(shown_to, hit.line + p_context_lines) end;
          last_hit := hit.line;
          continue;
        end if;
      end if;
      if hit.line > shown_to or hit.line = last_hit then
        blocks := blocks || format(e'\n[%s]', case
          when hit.line = last_hit then format('line %s has more of it; a larger max_tokens shows that', hit.line)
          else format('more lines have it; to go on, pass from_line => %s', hit.line) end);
        return memory._byte_slice(array_to_string(blocks, ''), 0, p_max_tokens * 4::bigint);
      end if;
    end loop;
  end loop;
  return memory._byte_slice(array_to_string(blocks, ''), 0, p_max_tokens * 4::bigint);
end;
$$;

-- The text in a form that ignores the difference between capitals and small letters. If the words are ASCII, changing
-- only ASCII letters is enough, and takes a tenth of the time.
create or replace function memory._without_case(p_text text, p_is_ascii boolean)
returns text
language sql immutable parallel safe
begin atomic
  select case when p_is_ascii then lower(p_text collate "C") else lower(p_text) end;
end;

-- A line in the form in which the result shows it.
create or replace function memory._numbered_line(p_line bigint, p_said text, p_patterns text[], p_is_ascii boolean)
returns text
language plpgsql immutable parallel safe
as $$
declare
  folded constant text := memory._without_case(p_said, p_is_ascii);
  word constant text := regexp_replace(substr(p_patterns[1], 2, length(p_patterns[1]) - 2), e'\\\\(.)', e'\\1', 'g');
  starts int := 1;
begin
  if length(p_said) > 400 then
    starts := greatest(least(strpos(folded, word) - 150, length(p_said) - 399), 1);
    p_said := concat(case when starts > 1 then '...' end, substr(p_said, starts, 400),
                     case when starts + 400 <= length(p_said) then '...' end);
  end if;
  return p_line || case when folded like all (p_patterns) then ':' else '-' end || rtrim(p_said, e'\r');
end;
$$;

-- The lines p_from to p_to in the form in which the result shows them. The line p_hit is among them and stands in the
-- part at p_first_byte. Of a line that is longer than a part, only one piece is shown.
create or replace function memory._lines_around(
  p_user_id text, p_content_id uuid, p_first_byte int, p_hit int, p_from int, p_to bigint, p_patterns text[],
  p_is_ascii boolean
)
returns text
language plpgsql stable parallel safe
as $$
begin
  return (
    select string_agg(memory._numbered_line(l.line, l.said, p_patterns, p_is_ascii), e'\n' order by l.line)
    from (
      select distinct on (p.first_line + s.place) p.first_line + s.place as line, s.said
      from memory.artifact_parts as p
      cross join lateral string_to_table(regexp_replace(p.content, e'\n$', ''), e'\n') with ordinality
        as s (said, place)
      where p.user_id = p_user_id and p.content_id = p_content_id
        and p.first_byte between p_first_byte - 65536 and p_first_byte + 65536
        and p.first_line < p_to and p.first_line + s.place between p_from and p_to
      order by p.first_line + s.place,
        p.first_line + s.place = p_hit and p.first_byte = p_first_byte
          and memory._without_case(s.said, p_is_ascii) like all (p_patterns) desc,
        p.first_byte) as l);
end;
$$;
