-- The artifacts that the thread of a context names (keys), and for each the newest message that names it (seqs); nulls
-- for none.
create or replace function memory._named_artifacts(p_asking memory._asking, out keys text[], out seqs bigint[])
language sql immutable parallel safe
begin atomic
  select null::text[], null::bigint[];
end;

-- The part of a context that shows artifacts that the thread names (p_keys, p_seqs), within p_room tokens.
create or replace function memory._kept_texts(
  p_asking memory._asking, p_keys text[], p_seqs bigint[], p_newest bigint, p_rest int, p_room int
)
returns memory._offer[]
language sql immutable parallel safe
begin atomic
  select array[]::memory._offer[];
end;

-- The number of tokens that a context keeps free for the text of memory._placeholder_offer().
create or replace function memory._tokens_for_placeholders(p_asking memory._asking, p_max_tokens int)
returns int
language sql immutable parallel safe
begin atomic
  select 0;
end;

-- The part of a context that tells the model what placeholders are; empty if the context has no placeholder.
create or replace function memory._placeholder_offer(
  p_asking memory._asking, p_offers memory._offer[], p_max_tokens int
)
returns memory._offer[]
language sql immutable parallel safe
begin atomic
  select array[]::memory._offer[];
end;

-- memory._harmless() makes the brackets of all placeholders in a text round. This function makes those of the user's
-- own artifacts square again. Without add-ons: the text as it is.
create or replace function memory._with_own_refs(p_user_id text, p_content text)
returns text
language sql immutable parallel safe
begin atomic
  select p_content;
end;
