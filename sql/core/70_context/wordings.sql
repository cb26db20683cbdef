-- When two texts say the same, by their wordings.

-- The wording of a text: its words in lower case without punctuation, by which two texts are compared. Two expressions
-- that seldom match take half the time of one expression that matches every blank.
create or replace function memory._wording(p_said text, p_most int default 2000)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return btrim(regexp_replace(
    regexp_replace(
      lower(left(p_said, p_most)), e'[!-/:-@\\[-`{-~\\u3002\\uff01\\uff0c\\uff1f]+', ' ', 'g'),
    e'\\s{2,}|[^\\S ]', ' ', 'g'));
end;
$$;

-- What wordings that say the same have in common: their three longest words, and their numbers. They are about as long
-- as well, and as many words turn them ("not", "former": memory._turning_words()). Null for a short text
-- ("Yes, please"), because short texts answer different questions.
create or replace function memory._wording_key(p_wording text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  longest text[] := array['', '', ''];
  figures text := '';
  word text;
begin
  if length(p_wording) < 20 then
    return null;
  end if;
  foreach word in array string_to_array(p_wording, ' ') loop
    if word ~ '[0-9]' then
      figures := figures || ' ' || word;
    elsif length(word) > length(longest[3]) and word <> all (longest) then
      longest := case
        when length(word) > length(longest[1]) then array[word, longest[1], longest[2]]
        when length(word) > length(longest[2]) then array[longest[1], word, longest[2]]
        else array[longest[1], longest[2], word] end;
    end if;
  end loop;
  return (select string_agg(w, ' ' order by w) from unnest(longest) as w) || figures;
end;
$$;

-- Whether a message says no more than a memory that was drawn from it: the memory has nine of ten longer words of the
-- message, all its numbers, and as many negations and similar words.
create or replace function memory._says_no_more(p_message_wording text, p_memory_wording text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  said constant text[] := string_to_array(p_message_wording, ' ');
  known constant text[] := string_to_array(p_memory_wording, ' ');
begin
  return coalesce((
      select count(*) filter (where w = any (known)) >= 0.9 * count(*)
        and coalesce(bool_and(w = any (known)) filter (where w ~ '[0-9]'), true)
      from (select distinct w from unnest(said) as w where length(w) >= 4 or w ~ '[0-9]') as d (w)), false)
    and memory._turning_words(said) = memory._turning_words(known);
end;
$$;

-- Whether a wording is only an acknowledgement or a greeting of lists/acknowledgements.toml, such as "got it" or
-- "thanks".
create or replace function memory._acknowledges(p_wording text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return jsonb {{list acknowledgements}} ? p_wording;
end;
$$;

-- The candidates, with why_not those of which p_said has each sentence, so that nothing stands in a context twice. A
-- sentence of few letters ("Yes, please") does not count, because its letters do not show that it means the same.
create or replace function memory._without_said(p_candidates memory._recalled[], p_said text)
returns memory._recalled[]
language plpgsql stable parallel safe
as $$
declare
  said constant text := memory._wording(p_said, 1000000);
  sentence text;
  wording text;
  is_said boolean;
begin
  for place in 1 .. case when said <> '' then cardinality(p_candidates) else 0 end loop
    continue when (p_candidates[place]).why_not is not null;
    is_said := false;
    foreach sentence in array regexp_split_to_array(
      regexp_replace((p_candidates[place]).line, '^[^:]*: ', ''),
      e'(?<=[.!?])\\s+|(?<=[\\u3002\\uff01\\uff1f])|\\n+')
    loop
      wording := memory._wording(sentence);
      continue when octet_length(wording) < 12;
      is_said := strpos(said, wording) > 0;
      exit when not is_said;
    end loop;
    if is_said then
      p_candidates[place].why_not := 'a summary or an earlier conversation says it';
    end if;
  end loop;
  return p_candidates;
end;
$$;
