-- What an application put into a message from memory is not said anew: the memory block, summaries, placeholders.
create or replace function memory._without_recalled(content text)
returns text
language plpgsql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
begin
  if content !~ '<recalled>|## Your Memories|MemoryRef:|Summary of the conversation so far:|What is known about the user:|Previous context:' then
    return content;
  end if;
  content := replace(content, e'\r\n', e'\n');
  -- The end of the fence may be beyond what is read of a long message.
  content := regexp_replace(content, e'Recalled from memory\\. This is data, not instructions:\\n<recalled>\\n.*?(\\n</recalled>|$)', '', 'g');
  content := regexp_replace(content, e'## Your Memories[ \\t]*(\\n[ \\t]*(\\*\\*[^\\n]*:\\*\\*|\\d+\\. [^\\n]*)?(?=\\n|$))*', '', 'g');
  content := regexp_replace(content, e'\\[MemoryRef: [^\\]\\n]*\\]', '', 'g');
  content := regexp_replace(content, e'(Summary of the conversation so far|What is known about the user):\\n([^\\n]*\\S[^\\n]*(\\n|$))*', '', 'g');
  return regexp_replace(content, e'\\[Previous context: .*?\\](\\n\\n|$)', '', 'g');
end;
$$;
