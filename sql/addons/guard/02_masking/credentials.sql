-- The text with marks in place of credentials. There are three kinds: credentials with a form of their own, credentials
-- after a name (DB_PASSWORD=x, "api_key": "x", my password is x), and words that look random.
create or replace function memory._without_credentials(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  assignment constant text := {{pattern credentials assignment}};
  form record;
begin
  for form in
    select f.*
    from (values
      {{rows credentials: mark, part, pattern}}) as f (mark, part, pattern)
    where p_text ~ f.part
  loop
    p_text := regexp_replace(p_text, form.pattern, form.mark, 'g');
  end loop;
  if p_text ~* assignment then
    p_text := (
      select string_agg(case when m.parts is null then g.gap else g.gap || memory._masked_assignment(m.parts) end, ''
                        order by g.place)
      from regexp_split_to_table(p_text, assignment, 'i') with ordinality as g (gap, place)
      left join regexp_matches(p_text, assignment, 'gi') with ordinality as m (parts, place) on m.place = g.place);
  end if;
  return memory._without_random_words(p_text);
end;
$$;

-- The match of an assignment, with a mark in place of its credential. p_parts has four parts: name and joint, name,
-- value, and end of line. The function uses few regular expressions, because a text may have 100,000 matches.
create or replace function memory._masked_assignment(p_parts text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  name constant text := lower(p_parts[2]);
  joint constant text := substr(p_parts[1], length(p_parts[2]) + 1);
  opening constant text := case
    when left(p_parts[3], 1) in ('"', '''', '`') then left(p_parts[3], 1)
    when left(p_parts[3], 2) in (e'\\"', e'\\''') then left(p_parts[3], 2)
    else '' end;
  kind constant text := case right(name, 3) when 'key' then 'key' when 'ken' then 'token' when 'ret' then 'secret'
                          else 'password' end;
  value text := substr(p_parts[3], length(opening) + 1);
  -- After a name in quotes, as in JSON, the mark of a value without quotes gets the same quotes.
  quote constant text := case opening when '' then coalesce(substring(joint from e'^\\\\?["'']'), '') else '' end;
begin
  if opening <> '' then
    value := rtrim(value, e'"''`\\');
  else
    if translate(value, ';&,', '') <> value then -- a=b;c=d has two values
      value := (regexp_split_to_array(value, '[;&,][A-Za-z_.-]*[A-Za-z_][=:]'))[1];
    end if;
    value := rtrim(value, '.,;:)]}>');
  end if;
  return case
    when length(value) < 4 or value ~ {{pattern credentials no_value}}
      or opening = '' and value ~ {{pattern credentials code}}
      or not case
        -- A key has 8 characters or more, with letters and digits, and no blank.
        when kind <> 'password' then length(value) >= 8 and strpos(value, ' ') = 0 and value ~ '[0-9]'
          and value ~ '[A-Za-z]' and value !~ {{pattern credentials no_key}}
        when value ~ '[0-9]|[a-z][A-Z]' then true
        when lower(value) ~ {{pattern credentials no_password}} then false
        -- A plain word is a password in quotes, at the end of a line, or after "=" without blanks. After "is" a word
        -- needs quotes, a digit or a sign.
        when joint ~ '[A-Za-z]' then opening <> '' and value !~ ' ' or value ~ '^[A-Za-z]+[!#$%&*+=?@^_~]'
        else opening <> '' or joint = '=' or p_parts[4] is not null end
      then concat(p_parts[1], p_parts[3], p_parts[4])
    else concat(p_parts[1], opening, quote, '(credential: ', kind, ')', quote,
      substr(p_parts[3], length(opening) + length(value) + 1), p_parts[4])
  end;
end;
$$;

-- The text with marks in place of random words. Random words that are no secret stay: UUIDs and hashes in hex,
-- addresses and paths, digests with their names, public keys, images in base64. Long words on successive lines are data
-- in base64 and stay, together with the shorter line at their end.
create or replace function memory._without_random_words(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  long_word constant text := {{pattern credentials long_word}};
begin
  if p_text !~ long_word then
    return p_text;
  end if;
  return (
    select string_agg(
      case
        when w.word is null then w.gap
        when w.gap like '%;base64,'
          or length(w.before) >= 60 and w.gap ~ e'^\\r?\\n[ \\t]*$'
          or length(w.word) >= 60 and length(w.after) >= 60 and w.next_gap ~ e'^\\r?\\n[ \\t]*$' then w.gap || w.word
        else w.gap || memory._masked_word(w.word)
      end, '' order by w.place)
    from (
      select g.gap, m.word[1] as word, g.place, lag(m.word[1]) over in_order as before,
        lead(m.word[1]) over in_order as after, lead(g.gap) over in_order as next_gap
      from regexp_split_to_table(p_text, long_word) with ordinality as g (gap, place)
      left join regexp_matches(p_text, long_word, 'g') with ordinality as m (word, place) on m.place = g.place
      window in_order as (order by g.place)) as w);
end;
$$;

-- A long word with marks in its random parts. A word of more than 4,096 characters is data and stays.
create or replace function memory._masked_word(p_word text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  part text;
begin
  if length(p_word) <= 4096 and p_word ~ '[0-9]' and p_word !~* {{pattern credentials no_random_word}} then
    for part in
      select distinct m.part[1] from regexp_matches(p_word, '[A-Za-z0-9+/_-]{24,}={0,2}', 'g') as m (part)
    loop
      if memory._is_random(rtrim(part, '=')) then
        p_word := replace(p_word, part, '(credential: random token)');
      end if;
    end loop;
  end if;
  return p_word;
end;
$$;

-- Whether a word of letters, digits and + / _ - looks as if each character had been drawn at random. Such a word has at
-- most 200 characters, digits among letters of both cases or scattered among small letters, few runs of letters that
-- could be words, and at least 3.5 bits of entropy per character.
create or replace function memory._is_random(p_word text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  size constant int := length(p_word);
  -- The longest part between signs. In lists of names, paths and UUIDs all parts are short.
  part text;
begin
  if size not between 24 and 200 or p_word !~ '[0-9]' or p_word !~ '[a-z]' or p_word ~ '^[0-9a-fA-F-]+$' then
    return false; -- no candidate, such as a UUID or a hash
  end if;
  select s.part into part from regexp_split_to_table(p_word, '[+/_-]') as s (part) order by length(s.part) desc limit 1;
  if length(part) < 11 or 2 * length(translate(part, '0123456789', '')) < length(part)
    or part ~ '^(?:0x)?[0-9a-fA-F]+$'
    or (case when p_word ~ '[A-Z]' then length(regexp_replace(p_word, '[A-Za-z][a-z]{3,}', '', 'g')) < 0.55 * size
         else length(part) < 30 or cardinality(regexp_split_to_array(part, '[0-9]+')) <= length(part) / 8 end) then
    return false;
  end if;
  return (
    select -sum(f.share * ln(f.share)) / ln(2) >= 3.5
    from (select count(*)::double precision / size as share from string_to_table(p_word, null) as c (letter)
          group by c.letter) as f);
end;
$$;
