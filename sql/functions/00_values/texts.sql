-- Content in, metadata beside it: the same rules wherever there is content. which says which one of several messages.
create or replace function memory._check_content(p_content text, p_max_bytes int, p_which text default '')
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_content <> '') is not true then
    perform memory._refuse('content' || p_which, case when p_content is null then 'must not be null' else 'must not be empty' end,
      'Only a message with tool_calls, images or other parts may have no text.');
  elsif octet_length(p_content) > p_max_bytes then
    perform memory._refuse('content' || p_which, format('has %s bytes, at most %s are allowed', octet_length(p_content), p_max_bytes),
      'Split it, or store it elsewhere and keep a reference.', '54000');
  end if;
end;
$$;

-- Content of what consists of nothing else. hint says what would make sense instead of blanks.
create or replace function memory._check_text(p_content text, p_max_bytes int, p_hint text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if (p_content ~ e'\\S') is not true then
    perform memory._refuse('content', case when p_content is null then 'must not be null' else 'must not be empty' end, p_hint);
  end if;
  perform memory._check_content(p_content, p_max_bytes);
end;
$$;

-- A query without a visible character is none. Of a longer one the beginning is looked for: it is as much as a model
-- embeds.
create or replace function memory._query_or_null(p_query text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when p_query ~ e'\\S' then left(p_query, 24000) end;
end;
$$;
