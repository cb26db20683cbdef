-- The estimated tokens of a number of bytes of text: four bytes are a token, as in English prose. Code, numbers and
-- other languages have more or fewer tokens than that. A text that must not exceed a limit is therefore measured by
-- memory._tokens_at_most().
create or replace function memory._tokens_of_bytes(p_bytes bigint)
returns int
language sql immutable parallel safe
begin atomic
  select ((p_bytes + 3) / 4)::int;
end;

-- The estimated tokens of a text.
create or replace function memory._estimate_tokens(p_content text)
returns int
language sql immutable parallel safe
begin atomic
  select memory._tokens_of_bytes(octet_length(p_content));
end;

-- An upper bound of a text's tokens, for a text that nobody has counted and that must not exceed a limit. Nearly every
-- text has fewer tokens than the bound under the encodings of OpenAI. The bound is too high by a factor of 1.1 to 1.3
-- for English prose, 1.1 to 2 for prose of other languages, 1.3 to 2 for source code and JSON, and 1 to 2 for base64,
-- hexadecimal digits and lists of numbers. A word is at least one token; so are a digit between blanks, a line break,
-- and nearly every capital within a word. Most English words are exactly one token, words of other languages two or
-- three. So the bound of a text is the lower the more English the text is by memory._english(). With one bound for all
-- languages, the bound of English chats was 1.8 times their tokens, and a context held half of the texts that fit. If
-- the text is a part of a larger text, p_english is the value of memory._english() for the larger text: with one value
-- for all parts, their bounds add up to a bound of the whole.
create or replace function memory._tokens_at_most(p_content text, p_english double precision default null)
returns int
language plpgsql immutable parallel safe
as $$
declare
  unindented constant text := replace(p_content, '    ', ''); -- an indentation is one token
  -- No regular expression counts the characters, because matches would take most of the time. replace() removes all
  -- characters of a kind, and the length tells their number. lower() and upper() change one bit of each ASCII letter.
  lines constant int := octet_length(unindented) - octet_length(replace(unindented, e'\n', ''));
  blanks constant int :=
    2 * octet_length(unindented) - octet_length(replace(unindented, ' ', ''))
    - octet_length(replace(unindented, e'\t', ''));
  digits constant int := octet_length(unindented) - octet_length(
    replace(replace(replace(replace(replace(replace(replace(replace(replace(replace(
      unindented, '0', ''), '1', ''), '2', ''), '3', ''), '4', ''), '5', ''), '6', ''), '7', ''), '8', ''), '9', ''));
  bits constant int := bit_count(convert_to(unindented, getdatabaseencoding()));
  capitals constant int :=
    bit_count(convert_to(lower(unindented collate "C"), getdatabaseencoding())) - bits;
  small_letters constant int :=
    bits - bit_count(convert_to(upper(unindented collate "C"), getdatabaseencoding()));
  signs int := length(unindented) - small_letters - capitals - digits - lines - blanks;
  english constant double precision := coalesce(p_english, memory._english(unindented));
  cyrillic int := 0;
  east_asian int := 0; -- ideographs, kana, and signs between them
  runs int := 0; -- characters in runs of 24 and more without a blank
  twenty constant double precision := 20;
begin
  -- Most texts have neither long runs nor other characters than printable ASCII, tabs and line breaks.
  if unindented ~ e'[^\t\n -~]|\\S{24}' then
    signs := signs - length(regexp_replace(unindented, e'[\t\n -~]+', '', 'g'));
    cyrillic := length(unindented) - length(regexp_replace(unindented, e'[\\u0400-\\u04ff]+', '', 'g'));
    east_asian := length(unindented) - length(regexp_replace(unindented, e'[\\u3040-\\u9fff]+', '', 'g'));
    if p_content ~ e'\\S{24}' then
      runs := (select coalesce(sum(length(r[1])), 0)
               from regexp_matches(left(p_content, 1000000), e'(\\S{24,})', 'g') as r);
    end if;
  end if;
  -- The fractions of 20 stand for 1.05 * digits, 0.85 * signs and so on, because a product of numeric takes 0.5 us.
  return ceil(2 + (0.24 - 0.14 * english) * (length(unindented) - lines - blanks - digits - signs)
              + (0.75 - 0.45 * english) * capitals
              + (1.9 - 0.8 * english) * lines + (0.9 - 0.15 * english) * blanks
              + 21 * digits / twenty + 17 * signs / twenty
              + 17 * (octet_length(p_content) - length(p_content)) / twenty -- bytes after each character's first
              - (9 * cyrillic + 8 * east_asian) / twenty
              + 8 * runs / twenty);
end;
$$;

-- The share of English in a text, from 0 to 1. The share is 1 if eight of the commonest English words have at least 6 %
-- of the characters, as in most chats in English. Looking for each word by replace() takes an eighth of the time of one
-- regular expression, and lower() takes a fifth of its time by the rules of "C", which suffice for English words.
create or replace function memory._english(p_content text)
returns double precision
language sql immutable parallel safe
begin atomic
  select least(1, (octet_length(p_content) - octet_length(
    replace(replace(replace(replace(replace(replace(replace(replace(
      lower(p_content collate "C"), ' the ', ' '), ' and ', ' '), ' you ', ' '), ' of ', ' '), ' it ', ' '),
      ' my ', ' '), ' that ', ' '), ' with ', ' '))) / (0.06::double precision * greatest(length(p_content), 1)));
end;

-- The text of the bytes of UTF-8 from p_first_byte on, up to p_end_byte if that is not null. A character belongs to the
-- slice in which its first byte lies. The function cuts by bytes, because PostgreSQL could count characters only from
-- the beginning of the text.
create or replace function memory._byte_slice(p_content text, p_first_byte bigint, p_end_byte bigint)
returns text
language plpgsql immutable parallel safe
as $$
declare
  bytes constant bytea := convert_to(p_content, 'UTF8');
  first_byte int := least(p_first_byte, octet_length(bytes));
  end_byte int := least(p_end_byte, octet_length(bytes)); -- least() ignores a null
begin
  -- A byte of the form 10xxxxxx continues a character.
  while first_byte < octet_length(bytes) and get_byte(bytes, first_byte) & 192 = 128 loop
    first_byte := first_byte + 1;
  end loop;
  while end_byte < octet_length(bytes) and get_byte(bytes, end_byte) & 192 = 128 loop
    end_byte := end_byte + 1;
  end loop;
  return convert_from(substr(bytes, first_byte + 1, greatest(end_byte - first_byte, 0)), 'UTF8');
end;
$$;

-- The last place up to p_byte at which a character of UTF-8 begins, or the end of the bytes.
create or replace function memory._character_start(p_bytes bytea, p_byte int)
returns int
language plpgsql immutable parallel safe
as $$
declare
  place int := least(p_byte, octet_length(p_bytes));
begin
  while place < octet_length(p_bytes) and get_byte(p_bytes, place) & 192 = 128 loop
    place := place - 1;
  end loop;
  return place;
end;
$$;
