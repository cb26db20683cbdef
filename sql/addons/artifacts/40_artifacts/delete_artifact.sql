create or replace function memory.delete_artifact(user_id text, key text)
returns boolean
language plpgsql volatile parallel unsafe security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform memory._check_id('user_id', user_id);
  key := memory._ref_key(key);
  perform memory._check_id('key', key);
  delete from memory.artifacts as a
  where a.user_id = delete_artifact.user_id
    and a.key = delete_artifact.key
    and memory._is_unexpired(a.expires_at);
  return found;
end;
$$;
comment on function memory.delete_artifact(text, text) is
'Deletes an artifact for good and returns whether it existed; an expired artifact does not count as existing. key may '
'also be a placeholder. Its key can be used again. Placeholders that name it find nothing from then on.';
