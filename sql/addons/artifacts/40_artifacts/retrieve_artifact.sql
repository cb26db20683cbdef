create or replace function memory.retrieve_artifact(
  user_id text, key text, from_token int default 0, max_tokens int default null, from_line int default null,
  max_lines int default null, grep text default null, context_lines int default 2
)
returns text
language plpgsql stable parallel safe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  content_id uuid;
  first_byte bigint;
  end_byte bigint;
begin
  perform memory._check_reader(user_id);
  key := memory._ref_key(key);
  perform memory._check_id('key', key);
  perform memory._check_range(from_token, max_tokens, from_line, max_lines, grep, context_lines);
  content_id := memory._readable_content(user_id, key);
  if content_id is null then
    perform memory._refuse('key', format('this user has no artifact "%s"', key),
      'It may have expired, been deleted, or be in quarantine; memory.list_artifacts(user_id) lists artifacts.',
      'P0002');
  end if;
  if grep is not null then
    return memory._grep_content(user_id, content_id, grep, context_lines, from_line, max_lines,
      coalesce(max_tokens, 10000));
  end if;
  first_byte := from_token * 4::bigint;
  if num_nonnulls(from_line, max_lines) > 0 then
    from_line := coalesce(from_line, 1);
    first_byte := memory._line_start(user_id, content_id, from_line);
    end_byte := memory._line_start(user_id, content_id, from_line::bigint + max_lines);
  end if;
  return memory._content_slice(user_id, content_id, first_byte, least(end_byte, first_byte + max_tokens * 4::bigint));
end;
$$;
comment on function memory.retrieve_artifact(text, text, int, int, int, int, text, int) is
'The content of an artifact: all of it, max_tokens tokens from from_token on (a token is four bytes of UTF-8 here, as '
'in token_count), max_lines lines from from_line on (the first line is 1), or the lines that hold every word of grep, '
'with context_lines lines around each. max_tokens bounds every result, and is 10,000 for grep unless given. key '
'may also be a placeholder. Beyond the end the result is empty. What a rule has put into quarantine is returned, too. '
'Error P0002 when the user has no artifact of that key, it has expired, or somebody has put it into quarantine.';

-- The content of an artifact for a caller that names its key; null if there is none. The function also returns the
-- content of an artifact that a rule has put into quarantine, because rules take 6 to 10 of 100 files of code for
-- attacks.
create or replace function memory._readable_content(p_user_id text, p_key text)
returns uuid
language plpgsql stable parallel safe
as $$
begin
  return a.content_id from memory.artifacts as a
  where a.user_id = p_user_id and a.key = p_key
    and memory._is_unexpired(a.expires_at)
    and (a.quarantined_at is null or a.quarantine_reason like 'rule: %');
end;
$$;

-- Refuses arguments that describe no part of a content.
create or replace function memory._check_range(
  p_from_token int, p_max_tokens int, p_from_line int, p_max_lines int, p_grep text, p_context_lines int
)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_from_token >= 0) is not true then
    perform memory._refuse('from_token', format('%s is negative or null', coalesce(p_from_token::text, 'null')),
      'The first slice begins at 0.');
  elsif p_max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', p_max_tokens), 'Leave it out to read to the end.');
  elsif p_from_line < 1 then
    perform memory._refuse('from_line', format('%s is less than 1', p_from_line), 'The first line is 1.');
  elsif p_max_lines < 1 then
    perform memory._refuse('max_lines', format('%s is less than 1', p_max_lines), 'Leave it out to read to the end.');
  elsif p_from_token > 0 and num_nonnulls(p_from_line, p_max_lines, p_grep) > 0 then
    perform memory._refuse('from_token',
      format('cannot be combined with %s',
        case when p_grep is not null then 'grep' when p_from_line is not null then 'from_line' else 'max_lines' end),
      'Name the part by tokens or by lines; grep goes on at from_line.');
  elsif p_grep !~ e'\\S' then
    perform memory._refuse('grep', 'must not be empty', 'Pass the words that a line has to hold.');
  elsif length(p_grep) > 1000 then
    perform memory._refuse('grep', format('has %s characters, at most 1000 are allowed', length(p_grep)),
      'Pass some words that a line has to hold.', '54000');
  elsif (p_context_lines between 0 and 1000) is not true then
    perform memory._refuse('context_lines',
      format('%s is not between 0 and 1000', coalesce(p_context_lines::text, 'null')),
      'It is the number of lines shown before and after each line with the words of grep; 2 is the default.');
  end if;
end;
$$;

-- The start of a line: the number of bytes before it. Null if the content has fewer lines, or p_line is null.
create or replace function memory._line_start(p_user_id text, p_content_id uuid, p_line bigint)
returns bigint
language plpgsql stable parallel safe
set enable_sort = off -- without statistics PostgreSQL would read and sort all parts
as $$
declare
  part memory.artifact_parts;
begin
  if p_line = 1 then
    return 0;
  end if;
  -- Finds the part with the line break before the line.
  select p.* into part
  from memory.artifact_parts as p
  where p.user_id = p_user_id and p.content_id = p_content_id and p.first_line <= p_line - 2
  order by p.first_line desc, p.first_byte desc limit 1;
  return (
    select part.first_byte + sum(octet_length(convert_to(l.said, 'UTF8')) + 1)
    from string_to_table(part.content, e'\n') with ordinality as l (said, place)
    where l.place <= p_line - 1 - part.first_line
    having p_line - 1 - part.first_line <= memory._line_breaks(part.content));
end;
$$;
