-- Personal data is masked when a text is stored, for agents whose policy names its classes (masking.classes). A mark
-- with the class takes its place: "(masked: email)". No mark has personal data, so a second call changes nothing more.
-- Forms find most of the data, and checksums tell card numbers and IBANs from other numbers. A telephone number needs a
-- form of its own, or a word for a telephone before it.

-- A text with marks in place of what p_masks names: classes of personal data, and 'credential'. Credentials come first:
-- a password in an address (https://ana:pass@example.org) would look like an email address.
create or replace function memory._masked(p_text text, p_masks text[])
returns text
language plpgsql immutable parallel safe
as $$
declare
  form record;
  pieces text[];
begin
  if 'credential' = any (p_masks) then
    p_text := memory._without_credentials(p_text);
  end if;
  if p_masks && '{email,ip,iban,card,phone}' and memory._may_have_personal_data(p_text) then
    pieces := memory._pieces_to_mask(p_text);
    for form in select f.class, f.pattern from memory._personal_data() as f where f.class = any (p_masks) loop
      pieces := array(
        select case when p.piece !~* form.pattern then p.piece else (
          select string_agg(g.gap || coalesce(m.parts[1] || memory._marked(form.class, m.parts[2]), ''), ''
                            order by g.place)
          from regexp_split_to_table(p.piece, form.pattern, 'i') with ordinality as g (gap, place)
          left join regexp_matches(p.piece, form.pattern, 'gi') with ordinality as m (parts, place)
            on m.place = g.place) end
        from unnest(pieces) with ordinality as p (piece, place)
        order by p.place);
    end loop;
    p_text := array_to_string(pieces, '');
  end if;
  return p_text;
end;
$$;

-- A text in pieces of about 4,000 characters, because each match of a pattern that looks behind reads the piece from
-- its beginning: 180 KB of log lines in one piece took 20 s. A piece ends before a word that begins with no digit and
-- follows none, so that no number is cut; after 16,000 characters it ends anywhere.
create or replace function memory._pieces_to_mask(p_text text)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  if length(p_text) <= 4000 then
    return array[p_text];
  end if;
  return array(
    select string_agg(t.token, '' order by t.place)
    from (
      select k.token, k.place, k.reached / 16000 as part,
        max(case when k.may_begin then k.reached / 4000 end) over (order by k.place) as piece
      from (
        select m.token[1] as token, m.place, sum(length(m.token[1])) over (order by m.place) as reached,
          m.token[1] ~ '^[^0-9+(]' and lag(m.token[1]) over (order by m.place) ~ e'[^0-9)\\s-]\\s?$|\\n$' as may_begin
        from regexp_matches(p_text, e'[^\\s,;|"<>]{1,255}[\\s,;|"<>]?|[\\s,;|"<>]', 'g')
          with ordinality as m (token, place)) as k) as t
    group by t.part, t.piece
    order by min(t.place));
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

-- Regular expressions for what may be personal data of a class, in the order in which they are masked: an IBAN would
-- look like a card number. The first group is what stands before the data and stays, the second is the data. The
-- matching ignores case. In the patterns below D is a digit and Z a zero of any of these scripts, L a letter of scripts
-- that put blanks between words (in Chinese and Japanese a word may stand right before an address), and S what stands
-- between groups of digits.
create or replace function memory._personal_data()
returns table (class text, pattern text)
language plpgsql immutable parallel safe
as $$
declare
  -- A number after another number, after "no." or "order", or inside of a word or a product code is something else.
  first constant text := e'((?<![.,+#$_/:-])(?<!D ?)(?<!\\u53f7[:\\uff1a]?)(?<!\\m(?:[a-z]*nr|no|n|ref|art|num|order'
    || e'|ordine|commande|pedido|invoice|ticket|rechnung|facture|fiscal|[a-z]+nummer)[.:\\u00b0\\u00ba]{0,2} ?))';
  ends constant text := '(?!-?D|-?[a-z])';
begin
  return query
  select f.class,
    replace(replace(replace(replace(f.pattern,
      'D', e'[0-9\\u0660-\\u0669\\u06f0-\\u06f9\\u0966-\\u096f\\uff10-\\uff19]'),
      'Z', e'[0\\u0660\\u06f0\\u0966\\uff10]'),
      'L', e'[a-z\\u00c0-\\u024f\\u0370-\\u058f\\u05d0-\\u06d5\\u0900-\\u0dff]'),
      'S', e'[ .\\u00a0\\u2010-\\u2015\\uff0d-]')
  from (values
    -- Not files (logo@2x.png), units of systemd, labels in programs (this@Main.stop()), remotes (git@host:path).
    ('email',
      e'()((?:L|[0-9._%+-])+(?:@|\\uff20| ?[(\\[]at[)\\]] ?)(?:L|[0-9-])+(?:[.](?:L|[0-9-])+)*'
      || '[.](?!(?:png|jpe?g|gif|webp|svg|service|socket|timer|target)(?![a-z]))L{2,}(?!L|[(]|:[a-z0-9]))'),
    -- Not versions, which have four numbers, too.
    ('ip',
      e'()((?<![0-9.]|[a-z]/)(?<!(?:vers[^ .,;]{0,5}|release|build|kap|sect|art|article|ver|\\mv|\\u7248\\u672c'
      || e'|\\u0625\\u0635\\u062f\\u0627\\u0631)[^0-9a-z]{0,3})(?:(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])[.]){3}'
      || '(?:25[0-5]|2[0-4][0-9]|1?[0-9]?[0-9])(?![0-9]|[.][0-9])'
      || '|(?<![:.a-z0-9_])[0-9a-f]{3,4}:(?:[0-9a-f]{0,4}:){1,6}[0-9a-f]{0,4}(?![:a-z0-9_]))'),
    ('iban', '()((?<![a-z0-9_])[a-z]{2}[0-9]{2}(?:[ -]?[a-z0-9]{4}){2,7}(?:[ -]?[a-z0-9]{1,3})?(?![a-z0-9_]))'),
    ('card',
      '((?<![.,+#$_/:-])(?<!D))((?:D{4}S){3}D{4}(?:SD{1,3})?(?!D)|D{4}[ -]D{6}[ -]D{4,5}(?!D)|D{13,19}(?!D))'),
    -- After a word for a telephone, with at most 20 characters between, any number of 6 to 15 digits is one.
    ('phone',
      e'((?:\\m(?:tel|phone|mobile?|cell|handy(?:nummer|nr)?|whatsapp|fax|sms|cep)\\M|telefon|telephone|rufnummer'
      || e'|t\\u00e9l\\u00e9phone|tel\\u00e9fono|m[o\\u00f3]vil|celular|call me|ruf mich|appelle|ligue|ll\\u00e1mame'
      || e'|\\u0442\\u0435\\u043b|\\u7535\\u8bdd|\\u624b\\u673a|\\u96fb\\u8a71|\\u643a\\u5e2f'
      || e'|\\u0647\\u0627\\u062a\\u0641|\\u062c\\u0648\\u0627\\u0644|\\u092e\\u094b\\u092c\\u093e\\u0907\\u0932'
      || e'|\\u092b\\u093c?\\u094b\\u0928)(?:(?!D)[^\\n]){0,20})(D(?:(?:S|[()/]){0,3}D){5,14}' || ends || ')'),
    ('phone',
      first || e'((?:[+\\uff0b]|00(?=[1-9]))D(?:(?:S|[()/]){0,3}D){7,14}' || ends -- +49 30 1234567, 0049 30 1234567
      || '|(?:[078] ?)?[(]Z?D{2,5}[)][ -]?D(?:S?D){4,9}' || ends -- (030) 123 45 67, 8 (912) 345-67-89
      || '|8[ -]?9D{2}[ -]?D{3}[ -]?D{2}[ -]?D{2}' || ends -- 8-912-345-67-89
      || '|ZD{1,4}(?: ?/ ?|S)D(?:S?D){5,9}' || ends -- 030/1234567, 090-1234-5678
      || '|D{3}/D{6,8}' || ends -- 333/1234567
      || '|ZD(?:[ .-]D{2}){4}(?![ .-]?D)' -- 06 12 34 56 78
      || '|ZD{9,10}' || ends -- 01712345678
      || '|[2-9]D{2}[-. ]D{3}[-. ]D{4}' || ends -- 555-123-4567
      || '|1[3-9]D(?:[ -]?D{4}){2}' || ends || ')') -- 138 0013 8000
  ) as f (class, pattern);
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
      if p_found !~ '[.]' then -- of version 6, or words joined by "::" in programs, which have no digit
        begin
          return case when p_found ~ '[0-9]' and family(p_found::inet) = 6 then mark else p_found end;
        exception when invalid_text_representation then
          return p_found;
        end;
      end if;
      return mark;
    when 'phone' then
      -- Not days and times, such as 2026-11-27 10:15 and 05-06-2024.
      return case
        when p_found ~ ('^(?:(?:19|20)[0-9]{2}[-/. ](?:0?[1-9]|1[0-2])[-/. ]'
            || '|[0-3]?[0-9][-/. ][0-3]?[0-9][-/. ](?:19|20)[0-9]{2})') then p_found
        else mark end;
    else
      return mark;
  end case;
end;
$$;

-- Whether a text is the number of a payment card: the digits of an issuer, as many as its cards have, with the checksum
-- of Luhn (ISO/IEC 7812-1).
create or replace function memory._is_card_number(p_text text)
returns boolean
language plpgsql immutable parallel safe
as $$
declare
  -- Of any of the scripts of memory._personal_data(), as Latin digits.
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
