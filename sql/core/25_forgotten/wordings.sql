-- Finds texts that contain a forgotten wording, however both are spelled.

-- The text as it is compared with others: spelled plainly, without characters that nobody sees (soft hyphens, joiners,
-- marks of writing direction), with the straight quotes and the hyphen for all kinds of them, and with one Unicode form
-- for letters that are composed, decomposed, ligatures or full-width. Beside it memory._content_hash() goes by
-- memory._plainly_spelled() alone, because stored hashes were made so.
create or replace function memory._compared_text(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  single constant text := e'[\\u0060\\u00b4\\u02b9-\\u02bc\\u2018-\\u201b\\u2032\\u2035\\u2039\\u203a]';
  twofold constant text := e'[\\u00ab\\u00bb\\u201c-\\u201f\\u2033\\u2036]';
  hyphen constant text := e'[\\u2010-\\u2015\\u2212]';
begin
  if octet_length(p_text) > length(p_text) then
    p_text := memory._unseen_removed(p_text);
    -- Before the Unicode form, which makes a blank and an accent of an acute accent that stands alone.
    if p_text ~ e'[\\u00ab\\u00b4\\u00bb\\u02b9-\\u02bc\\u2010-\\u203a\\u2212]' then
      p_text := regexp_replace(p_text, single, '''', 'g');
      p_text := regexp_replace(regexp_replace(p_text, twofold, '"', 'g'), hyphen, '-', 'g');
    end if;
    if getdatabaseencoding() = 'UTF8' and p_text is not nfkc normalized then
      p_text := memory._normal_form(p_text, 'NFKC');
    end if;
  end if;
  return memory._plainly_spelled(p_text);
end;
$$;

-- The wordings of these statements, each once. A statement that nobody sees has none: every empty text would say it.
create or replace function memory._wordings_of(p_statements text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select distinct w.wording
    from unnest(p_statements) as s cross join lateral memory._compared_text(s) as w (wording)
    where w.wording <> '');
end;
$$;

-- Whether a text has one of these wordings in it. A wording of less than 20 characters, such as a name, says too
-- little: only a text that consists of it states it.
create or replace function memory._states_any(p_text text, p_wordings text[])
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return memory._has_any(memory._compared_text(p_text), p_wordings);
end;
$$;

-- Whether a text has one of these wordings in it, as memory._states_any() says. The caller has spelled the text by
-- memory._compared_text().
create or replace function memory._has_any(p_said text, p_wordings text[])
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  wording text;
begin
  foreach wording in array p_wordings loop
    continue when octet_length(wording) > octet_length(p_said);
    if p_said = wording then
      return true;
    end if;
    -- The ends first: where texts repeat themselves, a long wording is compared at each repetition from end to begin.
    -- 200 KB in 1 MB took 5 s.
    if length(wording) >= 20 and strpos(p_said, right(wording, 500)) > 0 and strpos(p_said, left(wording, 500)) > 0
      and strpos(p_said, wording) > 0 then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- Whether a text or a key in a JSON value has one of these wordings in it. The text of the JSON says too little:
-- quotes and line breaks are escaped there, and it never consists of a short wording alone. So a text that is JSON
-- itself, such as the arguments of a tool's call, is read as JSON.
create or replace function memory._json_states_any(p_value jsonb, p_wordings text[])
returns boolean
language plpgsql immutable parallel unsafe -- as memory._json_in_text()
as $$
begin
  return exists (
    select from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "string")') as s
    where memory._states_any(s #>> '{}', p_wordings)
      or memory._json_states_any(memory._json_in_text(s #>> '{}'), p_wordings)
    union all
    select from jsonb_path_query(p_value, 'strict $.** ? (@.type() == "object").keyvalue().key') as k
    where memory._states_any(k #>> '{}', p_wordings));
end;
$$;

-- The JSON object or array that a text is; null if it is none.
create or replace function memory._json_in_text(p_text text)
returns jsonb
language plpgsql immutable parallel unsafe -- an error is handled
as $$
begin
  return case when p_text ~ e'^\\s*[[{]' then p_text::jsonb end;
exception
  when data_exception or statement_too_complex or program_limit_exceeded then
    return null;
end;
$$;

-- Patterns for memory._may_state(). Each asks for the longest word of a wording, or its first 100 characters.
create or replace function memory._patterns_of(p_wordings text[])
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(
    select '%' || (
      select left(w, 100) from regexp_split_to_table(s, e'[^[:alnum:]]+') as w order by length(w) desc limit 1) || '%'
    from unnest(p_wordings) as s);
end;
$$;

-- Whether a text may state one of the wordings that these patterns were made of: it has the word, or a character that
-- may hide it. That takes a twentieth of the time that it takes to spell the text. The list is of the characters that
-- hide nothing. Any other may spell a word in another way: it is not seen, sits on the letter before it, or is a letter
-- or digit in another form.
create or replace function memory._may_state(p_text text, p_patterns text[])
returns boolean
language sql immutable parallel safe
begin atomic
  select lower(p_text) like any (p_patterns)
    or octet_length(p_text) > length(p_text)
      and p_text ~ (e'[^\\u0001-\\u007f\\u00a0-\\u00a9\\u00ab\\u00ac\\u00ae-\\u00b1\\u00b4\\u00b6-\\u00b8\\u00bb'
        || e'\\u00bf-\\u0131\\u0134-\\u013e\\u0141-\\u0148\\u014a-\\u017e\\u0386-\\u03ce\\u0400-\\u0482\\u048a-\\u052f'
        || e'\\u05d0-\\u05ea\\u0620-\\u064a\\u2010-\\u2027\\u20a0-\\u20a7\\u20a9-\\u20bf\\u2600-\\u27bf\\u3001\\u3002'
        || e'\\u3041-\\u3096\\u30a1-\\u30fe\\u4e00-\\u9fff\\uac00-\\ud7a3\\U0001f300-\\U0001faff]');
end;
