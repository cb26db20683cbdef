-- Some credentials differ from other words only because they look random. Random words that are no secret stay: UUIDs
-- and hashes in hex, addresses and paths, digests with their names, public keys, images in base64.

-- A regular expression for a word of at least 24 characters.
create or replace function memory._long_word()
returns text
language sql immutable parallel safe
begin atomic
  select e'[^\\s"''`<>(){}\\[\\],;|\\\\]{24,}';
end;

-- The text with marks in place of random words. Long words on successive lines are data in base64 and stay; so does the
-- shorter line at the end of such data.
create or replace function memory._without_random_words(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
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
      from regexp_split_to_table(p_text, memory._long_word()) with ordinality as g (gap, place)
      left join regexp_matches(p_text, memory._long_word(), 'g') with ordinality as m (word, place)
        on m.place = g.place
      window in_order as (order by g.place)) as w);
end;
$$;

-- One match of memory._long_word() with marks in place of its random parts. A word of more than 4,096 characters is
-- data and stays. Addresses, paths, digests with their names, public keys and email addresses stay, too.
create or replace function memory._masked_word(p_word text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  part text;
begin
  if length(p_word) <= 4096 and p_word ~ '[0-9]' and strpos(p_word, '://') = 0
    and p_word !~* ('^(?:www[.]|[.~]{0,2}/|[a-z]:/|data:|sha[0-9]+[-:]|md5[-:]|h1:|urn:|arn:|cid:|magnet:|AAAA[BCE]'
      || '|[a-z0-9-]+(?:[.][a-z0-9-]+)+(?::[0-9]+)?/)|@[a-z0-9-]+[.][a-z]|boundary') then
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
  -- The longest part between signs. The parts are short in lists of names, in paths and in UUIDs.
  part text;
  digit_groups int;
begin
  if size not between 24 and 200 or p_word !~ '[0-9]' or p_word !~ '[a-z]' then
    return false;
  end if;
  select s.part into part from regexp_split_to_table(p_word, '[+/_-]') as s (part) order by length(s.part) desc limit 1;
  if length(part) < 11 or 2 * length(translate(part, '0123456789', '')) < length(part)
    or part ~ '^(?:0x)?[0-9a-fA-F]+$' then
    return false;
  elsif p_word ~ '[A-Z]' then
    if length(regexp_replace(p_word, '[A-Za-z][a-z]{3,}', '', 'g')) < 0.55 * size then
      return false;
    end if;
  else
    digit_groups := array_length(regexp_split_to_array(part, '[0-9]+'), 1) - 1;
    if length(part) < 30 or digit_groups < length(part) / 8 then
      return false;
    end if;
  end if;
  return (
    select -sum(f.share * ln(f.share)) / ln(2) >= 3.5
    from (select count(*)::double precision / size as share from string_to_table(p_word, null) as c (letter)
          group by c.letter) as f);
end;
$$;
