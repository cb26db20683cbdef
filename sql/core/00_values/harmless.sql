-- The text without markers. A marker is a tag of the fence around recalled text (<recalled ...>), a placeholder
-- ([MemoryRef: ...]), a text that a model may take for a tag or a placeholder, or a token of a chat template
-- (<|im_end|>), which ends the message for servers that look for such tokens in texts. The function replaces the
-- marker's opening bracket with a round one. A second call changes nothing more, so tokens may be counted before
-- fencing.
create or replace function memory._harmless(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  marker constant text := {{pattern fence marker}};
  decomposed text;
begin
  -- Nearly every text has none of these characters. The test saves the normal form, which takes 0.02 ms for a line.
  if p_content !~ (case when octet_length(p_content) = length(p_content) then e'[<\\[&%\\\\]'
                        else {{pattern fence possible}} end) then
    return p_content;
  end if;
  p_content := regexp_replace(p_content, {{pattern fence chat_token}}, '(', 'g');
  -- The session that first looks for a marker compiles the pattern in 10 to 20 ms, which most texts with a bracket do
  -- not need.
  if octet_length(p_content) = length(p_content) and p_content !~ e'[&%\\\\]'
    and regexp_replace(lower(p_content), '[^0-9a-z|]+', '', 'g') !~ {{pattern fence plain_marker}} then
    return p_content;
  end if;
  p_content := regexp_replace(p_content, marker, '(', 'g');
  -- Full-width, circled, mathematical and accented letters decompose into plain letters. The function changes a text
  -- only if it hides a marker in such letters, and then composes the text again.
  if octet_length(p_content) > length(p_content) and getdatabaseencoding() = 'UTF8' then
    decomposed := memory._normal_form(p_content, 'NFKD');
    if decomposed ~ marker then
      p_content := memory._normal_form(regexp_replace(decomposed, marker, '(', 'g'), 'NFC');
    end if;
  end if;
  return p_content;
end;
$$;
