-- The artifacts that the thread of a context names, each with the newest message that names it; nulls for none.
create or replace function memory._named_artifacts(p_asking memory._asking, out keys text[], out seqs bigint[])
language sql immutable parallel safe
begin atomic
  select null::text[], null::bigint[];
end;

-- The part of kept texts within p_room tokens, of the artifacts that the thread names.
create or replace function memory._kept_texts(
  p_asking memory._asking, p_keys text[], p_seqs bigint[], p_newest bigint, p_rest int, p_room int
)
returns memory._offer[]
language sql immutable parallel safe
begin atomic
  select array[]::memory._offer[];
end;

-- The tokens that are kept free to say what placeholders are.
create or replace function memory._tokens_for_placeholders(p_asking memory._asking, p_max_tokens int)
returns int
language sql immutable parallel safe
begin atomic
  select 0;
end;

-- What placeholders are, for a context in which one stands.
create or replace function memory._placeholder_offer(
  p_asking memory._asking, p_offers memory._offer[], p_max_tokens int
)
returns memory._offer[]
language sql immutable parallel safe
begin atomic
  select array[]::memory._offer[];
end;

-- A text in which memory._harmless() has made the brackets of all placeholders round, with those of the user's own
-- artifacts as they are.
create or replace function memory._with_own_refs(p_user_id text, p_content text)
returns text
language sql immutable parallel safe
begin atomic
  select p_content;
end;
