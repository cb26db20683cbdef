-- Refusals: one wording and one SQLSTATE for each kind of bad argument.
create or replace function memory._refuse(argument text, problem text, hint text, code text default '22023')
returns void
language plpgsql volatile parallel unsafe
set search_path = pg_catalog, pg_temp
as $$
begin
  -- A problem may quote what was passed, and what was passed may have 100 MB: no log should take that.
  raise exception '%: %', argument, left(problem, 2000) using errcode = code, hint = hint;
end;
$$;

create or replace function memory._check_id(argument text, id text)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (length(id) between 1 and 255) is not true then
    perform memory._refuse(argument,
      case when id is null then 'must not be null' when id = '' then 'must not be empty'
           else format('has %s characters, at most 255 are allowed', length(id)) end,
      format('Pass %s as 1 to 255 characters of your own choice.', argument));
  end if;
end;
$$;

-- A time that every client can hold. Inlined by the planner, hence no SET clause.
create or replace function memory._is_real_moment(moment timestamptz)
returns boolean
language sql immutable parallel safe
begin atomic
  select moment between timestamptz '0001-01-02 00:00+00' and timestamptz '9999-12-30 00:00+00';
end;

-- When something was said or stored. Other times may be infinite or long before our era; this one orders what is read.
create or replace function memory._check_moment(argument text, moment timestamptz)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if not memory._is_real_moment(moment) then
    perform memory._refuse(argument, 'must be a real moment of the years 1 to 9999',
      'Leave it out to store the current time.');
  end if;
end;
$$;

-- Since when or until when something holds. Infinity means never.
create or replace function memory._check_bound(argument text, moment timestamptz)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if isfinite(moment) and not memory._is_real_moment(moment) then
    perform memory._refuse(argument, format('%s is not within the years 1 to 9999', moment),
      'Use infinity, or null, for never.');
  end if;
end;
$$;

create or replace function memory._check_page(row_limit int, row_offset int)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (row_limit between 1 and 10000) is not true then
    perform memory._refuse('row_limit', format('%s is not between 1 and 10000', coalesce(row_limit::text, 'null')),
      'Read further pages with row_offset.');
  end if;
  if (row_offset >= 0) is not true then
    perform memory._refuse('row_offset', format('%s is negative or null', coalesce(row_offset::text, 'null')), 'The first page has row_offset 0.');
  end if;
end;
$$;

create or replace function memory._check_share(argument text, share double precision)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if share not between 0 and 1 then
    perform memory._refuse(argument, format('%s is not between 0 and 1', share), 'Leave it out for no limit.');
  end if;
end;
$$;

-- Lists of short names: tags, and what a filter may choose from. PostgreSQL compares two arrays in one go, entry by
-- entry, and neither a cancel nor statement_timeout ends that: 3,000,000 tags against a filter of 20,000 took 46 s. A
-- hundred against a hundred take 30 us.
create or replace function memory._check_list(argument text, list text[])
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  longest int;
begin
  if array_ndims(list) > 1 then
    perform memory._refuse(argument, format('has %s dimensions', array_ndims(list)),
      'Pass a plain list such as {drinks,travel}.');
  elsif cardinality(list) > 100 then
    perform memory._refuse(argument, format('has %s entries, at most 100 are allowed', cardinality(list)),
      'Pass at most 100 names of at most 255 characters.', '54000');
  elsif array_position(list, null) is not null then
    perform memory._refuse(argument, 'must be an array without nulls', 'Take the nulls out.');
  end if;
  longest := (select max(length(l.entry)) from unnest(list) as l (entry));
  if longest > 255 then
    perform memory._refuse(argument, format('has an entry of %s characters, at most 255 are allowed', longest),
      'Pass at most 100 names of at most 255 characters.', '54000');
  end if;
end;
$$;

-- A filter is compared with metadata of up to 1 MiB in one go as well, each of its values with each one there, so the
-- number of its values is what counts: with 100 that is 0.4 s at most, with as many as fit into 64 KiB it would be a
-- minute.
create or replace function memory._check_filter(filter jsonb)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  entries bigint;
begin
  if jsonb_typeof(filter) <> 'object' then
    perform memory._refuse('filter', format('is a JSON %s', jsonb_typeof(filter)),
      'Pass the part of metadata that must be there, such as {"channel": "mail"}.');
  end if;
  perform memory._check_json_size('filter', filter, 65536, 'Name only what sets the rows apart.');
  entries := (select count(*) from jsonb_path_query(filter, 'strict $.**')) - 1; -- the filter itself is none
  if entries > 100 then
    perform memory._refuse('filter', format('has %s values, at most 100 are allowed', entries),
      'Name only what sets the rows apart.', '54000');
  end if;
end;
$$;

-- JSON that is not stored as metadata: settings, filters, results and calls of jobs.
create or replace function memory._check_json_size(argument text, value jsonb, max_bytes int, hint text)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if pg_column_size(value) > max_bytes then
    perform memory._refuse(argument, format('has %s bytes, at most %s are allowed', pg_column_size(value), max_bytes),
      hint, '54000');
  end if;
end;
$$;

create or replace function memory._check_memory_types(argument text, memory_types text[])
returns void
language plpgsql stable parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  unknown text;
begin
  select coalesce('unknown type "' || left(t, 50) || '"', 'must not be null') into unknown
  from unnest(memory_types) as t
  where not exists (select from memory.memory_types as known where known.memory_type = t) limit 1;
  if found then
    perform memory._refuse(argument, unknown,
      'Known types: ' || (select string_agg(known.memory_type, ', ' order by known.position, known.memory_type) from memory.memory_types as known)
      || '. Add one with: insert into memory.memory_types (memory_type, heading, description) values (...).');
  end if;
end;
$$;

-- Content in, metadata beside it: the same rules wherever there is content. which says which one of several messages.
create or replace function memory._check_content(content text, max_bytes int, which text default '')
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (content <> '') is not true then
    perform memory._refuse('content' || which, case when content is null then 'must not be null' else 'must not be empty' end,
      'Only a message with tool_calls, images or other parts may have no text.');
  elsif octet_length(content) > max_bytes then
    perform memory._refuse('content' || which, format('has %s bytes, at most %s are allowed', octet_length(content), max_bytes),
      'Split it, or store it elsewhere and keep a reference.', '54000');
  end if;
end;
$$;

-- Content of what consists of nothing else. hint says what would make sense instead of blanks.
create or replace function memory._check_text(content text, max_bytes int, hint text)
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if (content ~ e'\\S') is not true then
    perform memory._refuse('content', case when content is null then 'must not be null' else 'must not be empty' end, hint);
  end if;
  perform memory._check_content(content, max_bytes);
end;
$$;

create or replace function memory._check_metadata(metadata jsonb, which text default '')
returns void
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(metadata) <> 'object' then
    perform memory._refuse('metadata' || which, format('is a JSON %s', jsonb_typeof(metadata)), 'Pass a JSON object such as {"channel": "mail"}.');
  elsif pg_column_size(metadata) > 1048576 then
    perform memory._refuse('metadata' || which, format('has %s bytes, at most 1048576 are allowed', pg_column_size(metadata)),
      'Keep large values in the content.', '54000');
  end if;
end;
$$;

-- A query without a visible character is none. Of a longer one the beginning is looked for: it is as much as a model
-- embeds.
create or replace function memory._query_or_null(query text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when query ~ e'\\S' then left(query, 24000) end;
end;
$$;
