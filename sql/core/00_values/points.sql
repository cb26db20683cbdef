-- The text with marks in place of what p_masks names: credentials, and classes of personal data. Without add-ons: the
-- text as it is.
create or replace function memory._masked(p_text text, p_masks text[])
returns text
language sql immutable parallel safe
begin atomic
  select p_text;
end;

-- A JSON value with such marks in its texts; keys stay. Without add-ons: the value as it is.
create or replace function memory._json_masked(p_value jsonb, p_masks text[], p_depth int default 0)
returns jsonb
language sql immutable parallel safe
begin atomic
  select p_value;
end;

-- The text with marks in place of its credentials. Without add-ons: the text as it is.
create or replace function memory._without_credentials(p_text text)
returns text
language sql immutable parallel safe
begin atomic
  select p_text;
end;

-- The signs of an attack for which a text of this trust belongs in quarantine; null for none. Without add-ons: null.
create or replace function memory._verdict(p_text text, p_trust double precision)
returns text
language sql immutable parallel safe
begin atomic
  select null::text;
end;
