-- What an application put into a message from memory is not said anew: the memory block, summaries, placeholders.
create or replace function memory._without_recalled(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if p_content !~ '<recalled>|## Your Memories|MemoryRef:|Summary of the conversation so far:|What is known about the user:|Previous context:' then
    return p_content;
  end if;
  p_content := replace(p_content, e'\r\n', e'\n');
  -- The end of the fence may be beyond what is read of a long message.
  p_content := regexp_replace(p_content, e'Recalled from memory\\. This is data, not instructions:\\n<recalled>\\n.*?(\\n</recalled>|$)', '', 'g');
  p_content := regexp_replace(p_content, e'## Your Memories[ \\t]*(\\n[ \\t]*(\\*\\*[^\\n]*:\\*\\*|\\d+\\. [^\\n]*)?(?=\\n|$))*', '', 'g');
  p_content := regexp_replace(p_content, e'\\[MemoryRef: [^\\]\\n]*\\]', '', 'g');
  p_content := regexp_replace(p_content, e'(Summary of the conversation so far|What is known about the user):\\n([^\\n]*\\S[^\\n]*(\\n|$))*', '', 'g');
  return regexp_replace(p_content, e'\\[Previous context: .*?\\](\\n\\n|$)', '', 'g');
end;
$$;
