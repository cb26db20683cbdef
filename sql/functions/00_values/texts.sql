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
