-- The new keys of artifacts of the first of two users who are merged, where the second has the key already.
create or replace function memory._new_keys(p_from text, p_into text)
returns jsonb
language plpgsql stable parallel safe
as $$
begin
  return memory._new_names(
    array(select a.key from memory.artifacts as a where a.user_id = p_from),
    array(select a.key from memory.artifacts as a where a.user_id = p_into));
end;
$$;
