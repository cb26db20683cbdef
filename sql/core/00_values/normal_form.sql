-- The text in a Unicode normal form. The function normalises pieces: PostgreSQL sorts a run of accents by exchanging
-- neighbours, and 100,000 accents in one piece would take minutes. A piece ends after the accents of its last letter.
-- The function keeps the last 51 characters of a piece together, and cuts the text before them after every 250
-- characters. Regular expressions cut the pieces, because PostgreSQL finds a place in a text by counting all characters
-- before it, which took 31 s for 1 MB.
create or replace function memory._normal_form(p_content text, p_form text)
returns text
language plpgsql immutable parallel safe
as $$
declare
  accents constant text := e'\\u0300-\\u036f\\u093c\\u09be\\u09d7\\u1160-\\u11ff\\u3099\\u309a\\uff9e\\uff9f';
  piece constant text := format('[^%1$s]+[%1$s]{0,50}|[%1$s]{1,50}', accents);
begin
  return string_agg(pg_catalog.normalize(c.said, p_form), '' order by p.place, c.place)
  from regexp_matches(p_content, piece, 'g') with ordinality as p (said, place)
  cross join lateral (
    select h.said[1], h.place
    from regexp_matches(left(p.said[1], -51), '.{1,250}', 'g') with ordinality as h (said, place)
    union all
    select right(p.said[1], 51), null) as c (said, place); -- null comes last
end;
$$;

-- The text without invisible characters.
create or replace function memory._unseen_removed(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when octet_length(p_text) = length(p_text) then p_text else regexp_replace(p_text, $w$(?x)
      [\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164]
      |[\ufe00-\ufe0f\ufeff\U000e0000-\U000e0fff]$w$, '', 'g') end;
end;
$$;
