-- Refuses content that is null, empty or longer than p_max_bytes. The error adds p_which to the argument's name, to say
-- which of several messages has the content.
create or replace function memory._check_content(p_content text, p_max_bytes int, p_which text default '')
returns void
language plpgsql immutable parallel safe
as $$
begin
  if p_content is null then
    perform memory._refuse('content' || p_which, 'must not be null', 'An empty text is allowed.');
  elsif octet_length(p_content) > p_max_bytes then
    perform memory._refuse_size('content' || p_which, octet_length(p_content), p_max_bytes,
      'Split it, or store it elsewhere and keep a reference.');
  end if;
end;
$$;

-- Refuses the title of a document, thread or space that is longer than 2,000 bytes. p_hint tells the caller where to
-- put a longer text.
create or replace function memory._check_title(p_title text, p_hint text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if octet_length(p_title) > 2000 then
    perform memory._refuse_size('title', octet_length(p_title), 2000, p_hint);
  end if;
end;
$$;

-- Whether a text has no visible character; null for null. The function tests the beginning first, because nearly every
-- text has a visible character there, and because a regular expression takes 0.1 s to start on 10 MB.
create or replace function memory._is_blank(p_text text)
returns boolean
language sql immutable parallel safe
begin atomic
  select left(p_text, 100) !~ e'\\S' and p_text !~ e'\\S';
end;

-- Refuses the content of a memory, document or artifact if memory._check_content() refuses it or if it has only blanks.
-- p_hint tells the caller which text to pass instead of blanks.
create or replace function memory._check_text(p_content text, p_max_bytes int, p_hint text)
returns void
language plpgsql immutable parallel safe
as $$
begin
  if memory._is_blank(p_content) is not false then
    perform memory._refuse('content', case when p_content is null then 'must not be null' else 'must not be empty' end,
      p_hint);
  end if;
  perform memory._check_content(p_content, p_max_bytes);
end;
$$;

-- The first 24,000 characters of a query, which is about as much as an embedding model reads; null if the query has no
-- visible character.
create or replace function memory._query_or_null(p_query text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  return case when p_query ~ e'\\S' then left(p_query, 24000) end;
end;
$$;

-- The spelling in which texts are compared: lower case, single spaces, no spaces at the ends. Every blank of Unicode
-- counts as a space. The function removes blanks of no width (the zero width space, the word joiner, the byte order
-- mark), because nobody sees them. The zero width joiners stay, because they change how letters and emoji look.
create or replace function memory._plainly_spelled(p_text text)
returns text
language plpgsql immutable parallel safe
as $$
begin
  p_text := lower(p_text);
  -- A text in a one-byte encoding skips this step: it has no invisible character, and the codes of some of these
  -- characters are letters or punctuation there.
  if octet_length(p_text) > length(p_text) then
    p_text := regexp_replace(p_text, e'[\\u200b\\u2060\\ufeff]', '', 'g');
    p_text := regexp_replace(p_text,
      e'[\\u0085\\u00a0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000]', ' ', 'g');
  end if;
  -- Most texts have single spaces already. This test takes a tenth of the time of regexp_replace().
  if p_text ~ e'\\s\\s|[^\\S ]' then
    p_text := regexp_replace(p_text, e'\\s+', ' ', 'g');
  end if;
  return btrim(p_text);
end;
$$;

-- The entries of a JSON array of strings, in order.
create or replace function memory._texts(p_value jsonb)
returns text[]
language plpgsql immutable parallel safe
as $$
begin
  return array(select t from jsonb_array_elements_text(p_value) with ordinality as e (t, position) order by e.position);
end;
$$;
