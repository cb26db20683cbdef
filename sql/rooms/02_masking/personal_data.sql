-- Personal data is masked when a text is stored, for agents whose policy names its classes (masking.classes). A mark
-- with the class takes its place: "(masked: email)". No mark has personal data, so a second call changes nothing more.
-- Forms find most of the data, and checksums tell card numbers and IBANs from other numbers. A telephone number needs a
-- form of its own, or a word for a telephone before it.

-- What can be masked, in the order in which it is done: a password in an address (https://ana:pass@example.org) would
-- look like an email address, and an IBAN like a card number.
create or replace function memory._maskable()
returns text[]
language sql immutable parallel safe
begin atomic
  select '{credential,email,ip,iban,card,phone}'::text[];
end;

-- A text with marks in place of what p_masks names (of memory._maskable()).
create or replace function memory._masked(p_text text, p_masks text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  form record;
begin
  if 'credential' = any (p_masks) then
    p_text := memory._without_credentials(p_text);
  end if;
  if p_masks && '{email,ip,iban,card,phone}' and memory._may_have_personal_data(p_text) then
    for form in select f.class, f.pattern from memory._personal_data() as f where f.class = any (p_masks) loop
      if p_text ~* form.pattern then
        p_text := (
          select string_agg(g.gap || coalesce(m.parts[1] || memory._marked(form.class, m.parts[2]), ''), ''
                            order by g.place)
          from regexp_split_to_table(p_text, form.pattern, 'i') with ordinality as g (gap, place)
          left join regexp_matches(p_text, form.pattern, 'gi') with ordinality as m (parts, place)
            on m.place = g.place);
      end if;
    end loop;
  end if;
  return p_text;
end;
$$;

-- Whether a text has a sign that stands in all personal data of these classes: "@", or three digits. Digits are those
-- of Latin, Arabic, Persian, Devanagari and full-width scripts.
create or replace function memory._may_have_personal_data(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_text ~* e'@|[(\\[]at[)\\]]|[0-9].*[0-9].*[0-9]'
    or octet_length(p_text) > length(p_text)
      and p_text ~ e'[\\uff20\\u0660-\\u0669\\u06f0-\\u06f9\\u0966-\\u096f\\uff10-\\uff19]';
end;

-- Regular expressions for what may be personal data of a class, in the order of memory._maskable(). The first group is
-- what stands before the data and stays, the second is the data. The matching ignores case.
create or replace function memory._personal_data()
returns table (class text, pattern text)
language plpgsql immutable parallel safe
as $$
declare
  d constant text := e'[0-9\\u0660-\\u0669\\u06f0-\\u06f9\\u0966-\\u096f\\uff10-\\uff19]';
  -- Of scripts that put blanks between words. In Chinese and Japanese a word may stand right before an address.
  letter constant text := e'[a-z\\u00c0-\\u024f\\u0370-\\u058f\\u05d0-\\u06d5\\u0900-\\u0dff]';
  joint constant text := e'[ ().\\u00a0\\u2010\\u2011/-]{0,2}'; -- between two digits of one number
  first constant text := '((?<![.,+#$_/:-])(?<!' || d || '))';
  ends constant text := '(?!' || d || ')';
begin
  return query values
    ('email',
      '()((?:' || letter || '|[0-9._%+-])+' || e'(?:@|\\uff20| ?[(\\[]at[)\\]] ?)'
      || '(?:' || letter || '|[0-9-])+(?:[.](?:' || letter || '|[0-9-])+)*[.]' || letter || '{2,})'),
    ('ip',
      e'()((?<![0-9.])(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])'
      || e'(?![0-9]|[.][0-9])|(?<![:.a-z0-9_])[0-9a-f]{3,4}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?![:a-z0-9_]))'),
    ('iban', '()((?<![a-z0-9_])[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?(?![a-z0-9_]))'),
    ('card',
      first || '((?:' || d || '{4}[ -]){3}' || d || '{4}(?:[ -]' || d || '{1,3})?' || ends
      || '|' || d || '{4}[ -]' || d || '{6}[ -]' || d || '{4,5}' || ends || '|' || d || '{13,19}' || ends || ')'),
    -- After a word for a telephone, with at most 20 characters between, any number of 6 to 15 digits is one.
    ('phone',
      e'((?:\\m(?:tel|phone|mobile?|cell|handy(?:nummer|nr)?|whatsapp|fax|sms)\\M'
      || e'|telefon|telephone|t\\u00e9l\\u00e9phone'
      || e'|tel\\u00e9fono|rufnummer|m[o\\u00f3]vil|celular|call me|ruf mich|appelle|ligue|ll\\u00e1mame'
      || e'|\\u0442\\u0435\\u043b|\\u7535\\u8bdd|\\u624b\\u673a|\\u96fb\\u8a71|\\u643a\\u5e2f)[^\\n' || substr(d, 2)
      || '{0,20})'
      || '(' || d || '(?:' || joint || d || '){5,14}' || ends || ')'),
    -- +49 30 1234567, 0049 30 1234567, 8 (912) 345-67-89, (030) 1234567, 030/1234567, 090-1234-5678, 06 12 34 56 78,
    -- 01712345678, 555-123-4567, 138 0013 8000.
    ('phone',
      first || e'((?:[+\\uff0b]|00(?=[1-9]))' || d || '(?:' || joint || d || '){6,14}' || ends
      || '|(?:[78] ?)?[(]0?' || d || '{2,5}[)][ -]?' || d || '(?:[ -]?' || d || '){4,9}' || ends
      || '|0' || d || '{1,4}[ /-]' || d || '(?:[ -]?' || d || '){5,9}' || ends
      || '|0[1-9](?:[ .-]' || d || '{2}){4}' || ends || '|0[1-9]' || d || '{8,9}' || ends
      || '|[2-9]' || d || '{2}[-. ]' || d || '{3}[-. ]' || d || '{4}' || ends
      || '|1[3-9]' || d || '(?:[ -]?' || d || '{4}){2}' || ends || ')');
end;
$$;

-- What memory._personal_data() found, with a mark in place of the data. Where the first digits alone are a card number
-- or an IBAN, the rest stays.
create or replace function memory._marked(p_class text, p_found text)
returns text
language plpgsql immutable parallel safe strict
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
      return case when p_found ~ '[.]' or memory._is_ipv6(p_found) then mark else p_found end;
    when 'phone' then
      -- Of days and times, such as 2026-11-27 10:15.
      return case when p_found ~ '^(?:19|20)[0-9]{2}[-/. ](?:0?[1-9]|1[0-2])[-/. ]' then p_found else mark end;
    else
      return mark;
  end case;
end;
$$;

-- The digits of a text, of any of the scripts of memory._personal_data(), as Latin digits.
create or replace function memory._digits_of(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  if p_text ~ '^[0-9 -]*$' then
    return translate(p_text, ' -', '');
  end if;
  return string_agg((case when ascii(c.letter) < 128 then ascii(c.letter) - 48
                          when ascii(c.letter) between 2406 and 2415 then ascii(c.letter) - 2406
                          else ascii(c.letter) % 16 end)::text, '' order by c.place)
  from string_to_table(p_text, null) with ordinality as c (letter, place)
  where c.letter ~ e'[0-9\\u0660-\\u0669\\u06f0-\\u06f9\\u0966-\\u096f\\uff10-\\uff19]';
end;
$$;

-- Whether a text is the number of a payment card: 13 to 19 digits that begin with 2 to 6, with the checksum of Luhn
-- (ISO/IEC 7812-1).
create or replace function memory._is_card_number(p_text text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  digits constant text := memory._digits_of(p_text);
begin
  return digits ~ '^[2-6][0-9]{12,18}$' and (
    select sum(case when (length(digits) - p.place) % 2 = 0 then p.digit::int
                    else p.digit::int * 2 - case when p.digit::int > 4 then 9 else 0 end end) % 10 = 0
    from string_to_table(digits, null) with ordinality as p (digit, place));
end;
$$;

-- Whether a text is an IBAN: 15 to 34 letters and digits, of which the number is 1 modulo 97 (ISO 13616).
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

-- Whether a text is an IP address of version 6. Words joined by "::" in programs have no digit.
create or replace function memory._is_ipv6(p_text text)
returns boolean
language plpgsql immutable parallel safe
as $$
begin
  return p_text ~ '[0-9]' and family(p_text::inet) = 6;
exception
  when invalid_text_representation then
    return false;
end;
$$;
