-- Finds texts that contain a forgotten wording, however both are spelled.

-- The text in the spelling in which it is compared with others: spelled plainly, without invisible characters (soft
-- hyphens, joiners, marks of writing direction), with straight quotes and the hyphen in place of all other kinds, and
-- with one Unicode form for letters that are composed, decomposed, ligatures or full-width. memory._content_hash() uses
-- memory._plainly_spelled() alone, because the stored hashes were made that way.
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
    -- Quotes and hyphens are replaced before the Unicode form, which turns an acute accent that stands alone into a
    -- blank and an accent.
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

-- The wordings of these statements, each once. A statement without a visible character has no wording, because every
-- text would contain it.
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

-- Whether a text contains one of these wordings. A wording of less than 20 characters, such as a name, says too little
-- by itself: only a text that consists of the wording states it.
create or replace function memory._states_any(p_text text, p_wordings text[])
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return memory._has_any(memory._compared_text(p_text), p_wordings);
end;
$$;

-- Does the work of memory._states_any() for a text that the caller has spelled by memory._compared_text().
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
    -- The two ends of the wording are looked for first. Where a text repeats itself, PostgreSQL compares a long wording
    -- at each repetition to the end: 200 KB in 1 MB took 5 s.
    if length(wording) >= 20 and strpos(p_said, right(wording, 500)) > 0 and strpos(p_said, left(wording, 500)) > 0
      and strpos(p_said, wording) > 0 then
      return true;
    end if;
  end loop;
  return false;
end;
$$;

-- Whether a text or a key in a JSON value contains one of these wordings. The function reads each text by itself,
-- because in the JSON as one text quotes and line breaks are escaped, and no short wording stands alone. If a text is
-- JSON itself, such as the arguments of a tool's call, the function reads it as JSON.
create or replace function memory._json_states_any(p_value jsonb, p_wordings text[])
returns boolean
language plpgsql immutable parallel unsafe -- because memory._json_in_text() is
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

-- The JSON object or array that a text consists of; null if the text is no such JSON.
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

-- The patterns for memory._may_state(). Each pattern looks for the longest word of a wording, or for the first 100
-- characters of this word.
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

-- Whether a text may state one of the wordings of which these patterns were made: it has the longest word of one, or a
-- character that may hide the word. This test takes a twentieth of the time of spelling the text. The pattern lists the
-- characters that hide nothing. Every other character may spell a word in another way: it is invisible, is an accent on
-- the letter before it, or is another form of a letter or digit.
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
