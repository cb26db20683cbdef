create or replace function memory.retrieve_artifact(
  user_id text, key text, from_token int default 0, max_tokens int default null
)
returns text
language plpgsql stable parallel safe security definer -- callers have no rights on the tables
set search_path = pg_catalog, pg_temp
as $$
declare
  content text;
begin
  perform memory._check_id('user_id', user_id);
  -- Models often pass the whole placeholder.
  key := coalesce(substring(left(key, 1000) from e'^\\s*\\[MemoryRef: (\\S+) - .* tokens\\]\\s*$'), key);
  perform memory._check_id('key', key);
  if (from_token >= 0) is not true then
    perform memory._refuse('from_token', format('%s is negative or null', coalesce(from_token::text, 'null')),
      'The first slice begins at 0.');
  end if;
  if max_tokens < 1 then
    perform memory._refuse('max_tokens', format('%s is less than 1', max_tokens),
      'Leave it out to read to the end.');
  end if;
  select a.content into content
  from memory._current_artifacts(user_id) as a
  where a.key = retrieve_artifact.key;
  if not found then
    perform memory._refuse('key', format('this user has no artifact "%s"', key),
      'It may have expired, or been deleted; memory.list_artifacts(user_id) shows what there is.', 'P0002');
  end if;
  return case
    when from_token = 0 and max_tokens is null then content
    else memory._token_slice(content, from_token, max_tokens)
  end;
end;
$$;
comment on function memory.retrieve_artifact(text, text, int, int) is
'The content of an artifact: all of it, or max_tokens tokens from from_token on (a token is four bytes of UTF-8 here, '
'as in token_count). key may also be the whole placeholder. Beyond the end the result is empty. Error P0002 when the '
'user has no artifact of that key or it has expired.';
