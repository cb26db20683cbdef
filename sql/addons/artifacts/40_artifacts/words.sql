-- The words of artifacts are parsed after the artifacts were stored: parsing 10 MB takes seconds, and storing them a
-- quarter of a second.

-- Whether a part lies at the end of a content.
create or replace function memory._is_last_part(p_first_byte int, p_token_count int)
returns boolean
language sql immutable parallel safe
begin atomic
  select p_first_byte >= p_token_count * 4 - 32772;
end;

-- The key of the artifact to which a part belongs; p_id is key/first_byte.
create or replace function memory._part_key(p_id text)
returns text
language sql immutable parallel safe
begin atomic
  select substring(p_id from '^(.*)/');
end;

-- The text by which search finds a part: its own text, and for the first part also key and description.
create or replace function memory._part_text(p_key text, p_description text, p_first_byte int, p_content text)
returns text
language sql immutable parallel safe
begin atomic
  select case p_first_byte
    when 0 then concat_ws(e'\n', p_key, p_description, p_content) else p_content end;
end;
