-- New keys for artifacts of p_from, who is merged into p_into, if p_into also has the key.
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
