-- The text with marks in place of credentials and personal data; p_masks names the classes to mask. Without add-ons the
-- text comes back unchanged.
create or replace function memory._masked(p_text text, p_masks text[])
returns text
language sql immutable parallel safe
begin atomic
  select p_text;
end;

-- A JSON value whose texts have marks as memory._masked() makes them. Keys stay. Without add-ons nothing changes.
create or replace function memory._json_masked(p_value jsonb, p_masks text[], p_depth int default 0)
returns jsonb
language sql immutable parallel safe
begin atomic
  select p_value;
end;

-- The text with marks in place of its credentials. Without add-ons the text comes back unchanged.
create or replace function memory._without_credentials(p_text text)
returns text
language sql immutable parallel safe
begin atomic
  select p_text;
end;

-- The signs of an attack that put a text of this trust into quarantine; null if there are none. Without add-ons the
-- result is always null.
create or replace function memory._verdict(p_text text, p_trust double precision)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;
