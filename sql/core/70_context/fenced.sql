-- Which texts a context fences: every part that is not a message of the thread: the memories (memories.sql), the
-- summaries (summaries.sql), recalled messages (recalled.sql), kept texts (memory._kept_texts()) and earlier
-- conversations (cross_session.sql). Three texts have no fence: the result of memory.render_memories(), which an
-- application puts into a fence of its own; the hint on placeholders, which is ours; and what memory.expand_refs()
-- inserts, which belongs to the message or tool result that it completes.

-- A text with the fence around recalled text. The fence says that the text is data, so the model takes no instructions
-- from a user or a web page that wrote the text. The text cannot end the fence, and the fence does not change the
-- number of the text's tokens. memory._without_recalled() takes fenced text out of messages before a job extracts facts
-- from them. The fence is the same in every call. Nobody could forge a fence with a random name; but providers cache
-- prompts that stay the same, and the server must recognise text that an application sends back without knowing the
-- name.
create or replace function memory._fenced(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return (memory._fence())[1] || memory._harmless(p_content) || (memory._fence())[2];
end;
$$;

-- The tokens that a context reckons for the fence and the heading in it. Under the encodings of OpenAI no heading has
-- more than 14, and the fence has 20.
create or replace function memory._fence_tokens()
returns int
language sql immutable parallel safe
begin atomic
  select 36;
end;

-- A text without empty lines, so that memory._without_recalled() sees where the text ends when the application sends it
-- back. A backslash keeps the lines of the text from beginning with the heading of memory.render_memories().
create or replace function memory._paragraph(p_content text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  -- Most texts are one line without a heading, and nothing below would change them.
  if p_content !~ e'[\\u0001-\\u001f\\u0085\\u2028\\u2029#\\ufe5f\\uff03]' then
    return memory._harmless(btrim(p_content, ' '));
  end if;
  p_content := regexp_replace(p_content, e'\\r\\n|[\\r\\u000b\\u000c\\u001c-\\u001f\\u0085\\u2028\\u2029]', e'\n', 'g');
  p_content := btrim(regexp_replace(p_content, e'\\n\\s*\\n', e'\n', 'g'), e' \t\r\n');
  return memory._harmless(regexp_replace(
    p_content,
    e'^([^0-9A-Za-z\\n]*?)([#\\ufe5f\\uff03][^0-9A-Za-z\\n]{0,16}your[^0-9A-Za-z\\n]{0,8}memories)',
    e'\\1\\\\\\2', 'gin'));
end;
$$;

-- How many tokens a blank before a text has: one before a digit or an East Asian letter. Before any other word the
-- blank is part of the word's token.
create or replace function memory._tokens_of_blank(p_text text)
returns int
language sql immutable parallel safe
begin atomic
  select (left(p_text, 1) ~ '[0-9]' or octet_length(left(p_text, 1)) > 2)::int;
end;
