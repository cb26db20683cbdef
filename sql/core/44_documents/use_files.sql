create or replace function memory.use_files(
  user_id text, command text, path text, file_text text default null, old_str text default null,
  new_str text default null, insert_line int default null, insert_text text default null,
  view_range int[] default null, new_path text default null
)
returns text
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  place text;
begin
  if command = 'view' then
    perform memory._check_reader(user_id);
  else
    perform memory._check_id('user_id', user_id);
  end if;
  if (command in ('view', 'create', 'str_replace', 'insert', 'delete', 'rename')) is not true then
    perform memory._refuse('command', format('unknown command "%s"', command),
      'Use view, create, str_replace, insert, delete or rename.');
  end if;
  place := memory._file_place('path', path);
  if place = '/memories' and command in ('delete', 'rename') then
    perform memory._refuse('path', format('Cannot %s the /memories directory itself', command),
      format('To %s what is in it, name each of it.', command));
  end if;
  return case command
    when 'view' then memory._view_files(user_id, path, place, view_range)
    when 'create' then memory._create_file(user_id, path, place, file_text)
    when 'str_replace' then memory._replace_in_file(user_id, path, place, old_str, new_str)
    when 'insert' then memory._insert_into_file(user_id, path, place, insert_line, insert_text)
    when 'delete' then memory._delete_files(user_id, path, place)
    else memory._rename_files(user_id, path, place, new_path) end;
end;
$$;
comment on function memory.use_files(text, text, text, text, text, text, int, text, int[], text) is
'Executes a command of a model on a user''s files under /memories, and returns the text that the model is to read. '
'command: view (a file with numbers of lines, view_range [first, last], or a directory two levels deep), create '
'(file_text), str_replace (old_str, which must occur once, by new_str), insert (insert_text after line insert_line), '
'delete, rename (to new_path). A file is a document of the namespace /memories whose title is its path, and a '
'directory is there while a file is in it. Commands at the same time lose nothing. Errors: P0002 for a path that does '
'not exist, 23505 for one that does already; their texts, like the results, are those of Anthropic''s memory tool.';

-- The path in the form in which files are stored: without "." and doubled slashes.
create or replace function memory._file_place(p_argument text, p_path text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if (p_path = '/memories' or starts_with(p_path, '/memories/')) is not true then
    perform memory._refuse(p_argument, format('Path must start with /memories, got: %s', p_path),
      'The command view with the path /memories shows which files there are.');
  elsif p_path ~ '(^|/)[.][.](/|$)' then
    perform memory._refuse(p_argument, format('Path %s would escape /memories directory', p_path),
      'Name the path without "..".');
  elsif octet_length(p_path) > 1000 or p_path ~ '[[:cntrl:]]' then
    perform memory._refuse(p_argument, 'A path has at most 1000 bytes and no control characters',
      'Use a shorter name.');
  end if;
  return (
    select string_agg('/' || s.name, '' order by s.place)
    from unnest(string_to_array(p_path, '/')) with ordinality as s (name, place)
    where s.name not in ('', '.'));
end;
$$;

-- A user's files at a place and below it, including files in quarantine.
create or replace function memory._files_at(p_user_id text, p_place text)
returns setof memory.documents
language sql stable parallel safe
begin atomic
  select d.* from memory.documents as d
  where d.user_id = p_user_id and d.namespace = '/memories'
    and (d.title = p_place or starts_with(d.title, p_place || '/'));
end;

create or replace function memory._refuse_taken_place(p_argument text, p_problem text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse(p_argument, p_problem, 'Choose another path, or change what is there.', '23505');
end;
$$;

-- Refuses a place that is taken, or that lies under a file. A file in quarantine also takes its place.
create or replace function memory._check_free_place(
  p_argument text, p_user_id text, p_path text, p_place text, p_problem text
)
returns void
language plpgsql stable parallel safe
as $$
begin
  if p_place = '/memories' or exists (select from memory._files_at(p_user_id, p_place)) then
    perform memory._refuse_taken_place(p_argument, format(p_problem, p_path));
  elsif exists (
    select from memory.documents as d
    where d.user_id = p_user_id and d.namespace = '/memories' and starts_with(p_place, d.title || '/')) then
    perform memory._refuse(p_argument, format('The path %s is inside of a file', p_path),
      'Choose a directory in which the file can be.');
  end if;
end;
$$;

-- Refuses a path at which commands find no file.
create or replace function memory._refuse_absent_file(p_path text, p_more text)
returns void
language plpgsql volatile parallel unsafe
as $$
begin
  perform memory._refuse('path', format('The path %s does not exist', p_path) || p_more,
    'The command view with the path /memories shows which files there are.', 'P0002');
end;
$$;

-- The file at a place, locked against other commands.
create or replace function memory._file_to_change(p_user_id text, p_path text, p_place text)
returns memory.documents
language plpgsql volatile parallel unsafe
as $$
declare
  file memory.documents;
begin
  select d.* into file from memory.documents as d
  where d.user_id = p_user_id and d.namespace = '/memories' and d.title = p_place and d.quarantined_at is null
  for update;
  if not found then
    if p_place = '/memories'
      or exists (select from memory._files_at(p_user_id, p_place) as f where f.quarantined_at is null) then
      perform memory._refuse('path', format('The path %s is not a file.', p_path), 'Name a file in it.');
    end if;
    perform memory._refuse_absent_file(p_path, '. Please provide a valid path.');
  end if;
  return file;
end;
$$;

-- The lines of a text from p_first to p_last, each with its number.
create or replace function memory._numbered(p_lines text[], p_first int, p_last int)
returns text
language sql immutable parallel safe
begin atomic
  select coalesce(string_agg(lpad((l.place + p_first - 1)::text, 6) || e'\t' || l.line, e'\n' order by l.place), '')
  from unnest(p_lines[p_first:p_last]) with ordinality as l (line, place);
end;

-- The number of line breaks in a text.
create or replace function memory._line_ends(p_text text)
returns int
language sql immutable parallel safe
begin atomic
  select length(p_text) - length(replace(p_text, e'\n', ''));
end;

create or replace function memory._view_files(p_user_id text, p_path text, p_place text, p_range int[])
returns text
language plpgsql stable parallel safe
as $$
declare
  content text;
  lines text[];
  listing text;
begin
  if cardinality(p_range) <> 2 then
    perform memory._refuse('view_range', 'must be two numbers of lines', 'Use [first, last]; -1 is the last line.');
  end if;
  select f.content into content from memory._files_at(p_user_id, p_place) as f
  where f.title = p_place and f.quarantined_at is null;
  if found then
    lines := case when content = '' then array[''] else string_to_array(content, e'\n') end;
    if cardinality(lines) > 999999 then
      perform memory._refuse('path', format('File %s exceeds maximum line limit of 999,999 lines.', p_path),
        'Let a program read it.');
    end if;
    return format(e'Here''s the content of %s with line numbers:\n', p_path) || memory._numbered(lines,
      greatest(1, p_range[1]), coalesce(nullif(p_range[2], -1), cardinality(lines)));
  end if;
  with files as (
    select string_to_array(substr(f.title, length(p_place) + 2), '/') as names, octet_length(f.content) as bytes
    from memory._files_at(p_user_id, p_place) as f
    where f.quarantined_at is null
  ),
  shown as (
    select f.names[1:d.depth] as names, sum(f.bytes) as bytes, bool_or(cardinality(f.names) > d.depth) as is_directory
    from files as f
    cross join generate_series(0, 2) as d (depth)
    where cardinality(f.names) >= d.depth
      and not exists (select from unnest(f.names[1:d.depth]) as n where starts_with(n, '.'))
    group by f.names[1:d.depth]
  )
  select string_agg(memory._file_size(s.bytes) || e'\t' || p_path
    || case when s.names = '{}' then '' else '/' || array_to_string(s.names, '/')
         || case when s.is_directory then '/' else '' end end,
    e'\n' order by s.names collate "C")
  into listing from shown as s;
  if listing is null and p_place <> '/memories' then
    perform memory._refuse_absent_file(p_path, '. Please provide a valid path.');
  end if;
  return format(e'Here''re the files and directories up to 2 levels deep in %s, excluding hidden items:\n', p_path)
    || coalesce(listing, e'0B\t' || p_path);
end;
$$;

-- A size as listings show it: 0B, 17B, 1.5K, 2M.
create or replace function memory._file_size(p_bytes numeric)
returns text
language sql immutable parallel safe
begin atomic
  select case when s.size = trunc(s.size) then trunc(s.size)::text else round(s.size, 1)::text end || u.unit
  from (values (0, 'B'), (1, 'K'), (2, 'M'), (3, 'G')) as u (power, unit)
  cross join lateral (select p_bytes / 1024.0 ^ u.power) as s (size)
  where s.size >= 1 or u.power = 0
  order by u.power desc limit 1;
end;

create or replace function memory._create_file(p_user_id text, p_path text, p_place text, p_text text)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  taken constant text := 'File %s already exists';
begin
  if p_text is null then
    perform memory._refuse('file_text', 'is missing', 'Pass the text of the file, which may be empty.');
  end if;
  perform memory._check_free_place('path', p_user_id, p_path, p_place, taken);
  insert into memory.documents (user_id, namespace, doc_type, title, content, trust)
  values (p_user_id, '/memories', 'file', p_place, p_text, memory._source_trust('assistant'))
  on conflict (user_id, title) where namespace = '/memories' do nothing;
  if not found then -- somebody has made it meanwhile
    perform memory._refuse_taken_place('path', format(taken, p_path));
  end if;
  return format('File created successfully at: %s', p_path);
end;
$$;

create or replace function memory._replace_in_file(
  p_user_id text, p_path text, p_place text, p_old text, p_new text
)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  file constant memory.documents := memory._file_to_change(p_user_id, p_path, p_place);
  parts constant text[] := string_to_array(file.content, p_old);
  changed constant int := memory._line_ends(parts[1]) + 1; -- the line in which the old text begins
  found_in text;
  changed_content text;
  lines text[];
begin
  if p_old is null then
    perform memory._refuse('old_str', 'is missing', 'Pass the text that is to be replaced.');
  elsif cardinality(parts) < 2 then
    perform memory._refuse('old_str', format(
      'No replacement was performed, old_str `%s` did not appear verbatim in %s.', left(p_old, 500), p_path),
      'View the file, and pass a part of it exactly as it is.');
  elsif cardinality(parts) > 2 then
    select string_agg(l.line::text, ', ' order by l.place) into found_in
    from (
      select p.place,
        1 + sum(memory._line_ends(p.part)) over (order by p.place) + (p.place - 1) * memory._line_ends(p_old) as line
      from unnest(parts[:cardinality(parts) - 1]) with ordinality as p (part, place)) as l;
    perform memory._refuse('old_str', format('No replacement was performed. Multiple occurrences of old_str `%s` in '
      'lines: %s. Please ensure it is unique', left(p_old, 500), found_in), 'Pass more of what is around it.');
  end if;
  update memory.documents as d set content = parts[1] || coalesce(p_new, '') || parts[2]
  where d.user_id = p_user_id and d.document_id = file.document_id returning d.content into changed_content;
  lines := case when changed_content = '' then array[''] else string_to_array(changed_content, e'\n') end;
  return e'The memory file has been edited. Here is the snippet showing the change (with line numbers):\n'
    || memory._numbered(lines, greatest(1, changed - 2), least(cardinality(lines), changed + 2));
end;
$$;

create or replace function memory._insert_into_file(
  p_user_id text, p_path text, p_place text, p_line int, p_text text
)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  file constant memory.documents := memory._file_to_change(p_user_id, p_path, p_place);
  -- A line break at the end of the file begins no further line.
  lines constant text[] := trim_array(string_to_array(file.content, e'\n'),
    case when file.content like e'%\n' then 1 else 0 end);
  joined text;
begin
  if p_text is null then
    perform memory._refuse('insert_text', 'is missing', 'Pass the text that is to be inserted.');
  elsif (p_line between 0 and cardinality(lines)) is not true then
    perform memory._refuse('insert_line', format('Invalid `insert_line` parameter: %s. It should be within the range '
      '[0, %s].', p_line, cardinality(lines)), 'The text is inserted after this line; 0 is the beginning.');
  end if;
  joined := array_to_string(lines[:p_line] || rtrim(p_text, e'\n') || lines[p_line + 1:], e'\n');
  update memory.documents as d set content = joined || case when joined like e'%\n' then '' else e'\n' end
  where d.user_id = p_user_id and d.document_id = file.document_id;
  return format('The file %s has been edited.', p_path);
end;
$$;

create or replace function memory._delete_files(p_user_id text, p_path text, p_place text)
returns text
language plpgsql volatile parallel unsafe
as $$
begin
  delete from memory.documents as d
  where d.user_id = p_user_id and d.namespace = '/memories'
    and (d.title = p_place or starts_with(d.title, p_place || '/'));
  if not found then
    perform memory._refuse_absent_file(p_path, '');
  end if;
  return format('Successfully deleted %s', p_path);
end;
$$;

create or replace function memory._rename_files(p_user_id text, p_path text, p_place text, p_new_path text)
returns text
language plpgsql volatile parallel unsafe
as $$
declare
  new_place constant text := memory._file_place('new_path', p_new_path);
  taken constant text := 'The destination %s already exists';
begin
  perform memory._check_free_place('new_path', p_user_id, p_new_path, new_place, taken);
  if starts_with(new_place, p_place || '/') then
    perform memory._refuse('new_path', format('The destination %s is inside of %s', p_new_path, p_path),
      'Choose a path outside of it.');
  end if;
  begin
    update memory.documents as d set title = new_place || substr(d.title, length(p_place) + 1)
    where d.user_id = p_user_id and d.namespace = '/memories'
      and (d.title = p_place or starts_with(d.title, p_place || '/'));
  exception when unique_violation then -- somebody has made it meanwhile
    perform memory._refuse_taken_place('new_path', format(taken, p_new_path));
  end;
  if not found then
    perform memory._refuse_absent_file(p_path, '');
  end if;
  return format('Successfully renamed %s to %s', p_path, p_new_path);
end;
$$;
