-- Patterns find most personal data, and checksums tell card numbers and IBANs from other numbers. A telephone number
-- needs a form of its own, or a word for a telephone before it.

-- Cuts a text into pieces of at most 1,000 bytes, because each match of a pattern that looks behind reads its piece
-- from the beginning: 180 KB of log lines in one piece took 20 s. A piece ends after a line, or else after a word. The
-- next piece begins with no digit, so that no number is cut. If 16,000 bytes have no such place, the piece ends
-- anywhere. Places are counted in bytes, because PostgreSQL finds a character by counting from the beginning.
create or replace function memory._pieces_to_mask(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
declare
  said constant bytea := case when length(p_text) > 1000 then convert_to(p_text, 'UTF8') end;
  size constant int := octet_length(said);
  room int := 1000;
  place int := 1;
  after int; -- the byte after the piece
  piece text;
  pieces text[] := array[]::text[];
begin
  if said is null then
    return array[p_text];
  end if;
  while place <= size loop
    after := least(place + room, size + 1);
    while after <= size and get_byte(said, after - 1) & 192 = 128 loop -- within a character
      after := after - 1;
    end loop;
    piece := convert_from(substr(said, place, after - place), 'UTF8');
    if after <= size then
      piece := coalesce(substring(piece from e'^(.*\\n)[^0-9+(\\s]'),
        substring(piece from e'^(.*(?:[,;|"<>]|[^0-9)\\s-]\\s))[^0-9+(\\s]'),
        case when room >= 16000 then piece end);
    end if;
    if piece is null then
      room := room * 2;
    else
      pieces := array_append(pieces, piece);
      place := place + octet_length(convert_to(piece, 'UTF8'));
      room := 1000;
    end if;
  end loop;
  return pieces;
end;
$$;

-- The text that a pattern of personal data has found, with a mark in its place. If only the first digits are a card
-- number or an IBAN, the rest stays. The text comes back unchanged if a checksum does not fit.
create or replace function memory._marked(p_class text, p_found text)
returns text
language plpgsql immutable parallel unsafe strict
as $$
declare
  mark constant text := '(masked: ' || p_class || ')';
  data text := p_found;
begin
  case p_class
    when 'iban', 'card' then
      loop
        if (case p_class when 'iban' then memory._is_iban(data) else memory._is_card_number(data) end) then
          return mark || substr(p_found, length(data) + 1);
        end if;
        exit when data !~ '[ -]';
        data := regexp_replace(data, '[ -][^ -]*$', '');
      end loop;
      return p_found;
    when 'ip' then
      if p_found !~ '[.]' then -- of version 6; words that programs join by "::" have no digit
        begin
          return case when p_found ~ '[0-9]' and family(p_found::inet) = 6 then mark else p_found end;
        exception when invalid_text_representation then
          return p_found;
        end;
      end if;
      return mark;
    when 'phone' then
      -- Days and times, such as 2026-11-27 10:15 and 05-06-2024, are no telephone numbers.
      return case
        when p_found ~ ('^(?:(?:19|20)[0-9]{2}[-/. ](?:0?[1-9]|1[0-2])[-/. ]'
            || '|[0-3]?[0-9][-/. ][0-3]?[0-9][-/. ](?:19|20)[0-9]{2})') then p_found
        else mark end;
    else
      return mark;
  end case;
end;
$$;

-- Whether a text is the number of a payment card: it begins with the digits of an issuer, has as many digits as this
-- issuer's cards, and has the checksum of Luhn (ISO/IEC 7812-1).
create or replace function memory._is_card_number(p_text text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  -- The Latin digits for digits of any script of lists/personal_data.toml.
  digits constant text := case when p_text ~ '^[0-9 -]*$' then translate(p_text, ' -', '') else (
    select string_agg((case when ascii(c.letter) < 128 then ascii(c.letter) - 48
                            when ascii(c.letter) between 2406 and 2415 then ascii(c.letter) - 2406
                            else ascii(c.letter) % 16 end)::text, '' order by c.place)
    from string_to_table(p_text, null) with ordinality as c (letter, place)
    where c.letter ~ e'[0-9\\u0660-\\u0669\\u06f0-\\u06f9\\u0966-\\u096f\\uff10-\\uff19]') end;
begin
  return digits ~ ('^(?:4(?:[0-9]{12}|[0-9]{15}|[0-9]{18})|(?:5[0-9]|2[2-7]|35|97)[0-9]{14}|3[47][0-9]{13}'
      || '|3[068][0-9]{12}|6[0-9]{15,18})$') and (
    select sum(case when (length(digits) - p.place) % 2 = 0 then p.digit::int
                    else p.digit::int * 2 - case when p.digit::int > 4 then 9 else 0 end end) % 10 = 0
    from string_to_table(digits, null) with ordinality as p (digit, place));
end;
$$;

-- Whether a text is an IBAN: 15 to 34 letters and digits, whose number leaves 1 when divided by 97 (ISO 13616).
create or replace function memory._is_iban(p_text text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  compact constant text := upper(translate(p_text, ' -', ''));
begin
  return length(compact) between 15 and 34 and (
    select string_agg(case when c.letter ~ '[0-9]' then c.letter else (ascii(c.letter) - 55)::text end, ''
                      order by c.place)::numeric % 97 = 1
    from string_to_table(substr(compact, 5) || left(compact, 4), null) with ordinality as c (letter, place));
end;
$$;
